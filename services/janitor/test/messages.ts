import { callSqs, type SharedTestStack } from '@pasteflow/dev-stack/testing';

export { callSqs };

interface SqsMessage {
  MessageId: string;
  Body: string;
  ReceiptHandle: string;
}

/** Takes all visible messages out of a queue. @returns their bodies */
export async function drain({ stack }: { stack: SharedTestStack }, name: string): Promise<string[]> {
  const bodies: string[] = [];
  for (;;) {
    const { Messages = [] } = await callSqs<{ Messages?: SqsMessage[] }>(
      stack.aws.endpoint,
      'ReceiveMessage',
      name,
      {
        MaxNumberOfMessages: 10,
      },
    );
    if (Messages.length === 0) return bodies;
    bodies.push(...Messages.map(({ Body }) => Body));
    await callSqs(stack.aws.endpoint, 'DeleteMessageBatch', name, {
      Entries: Messages.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle })),
    });
  }
}

/** The number of messages in a queue, hidden ones included. */
export async function messagesLeft({ stack }: { stack: SharedTestStack }, name: string): Promise<number> {
  const { Attributes } = await callSqs<{ Attributes: Record<string, string> }>(
    stack.aws.endpoint,
    'GetQueueAttributes',
    name,
    { AttributeNames: ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'] },
  );
  return Object.values(Attributes).reduce((sum, count) => sum + Number(count), 0);
}

/** Sends the bodies unchanged, without our own clients. */
export async function sendRaw(
  { stack }: { stack: SharedTestStack },
  name: string,
  ...bodies: string[]
): Promise<void> {
  for (const MessageBody of bodies) await callSqs(stack.aws.endpoint, 'SendMessage', name, { MessageBody });
}
