import { ReceiveMessageCommand, type Message, type SQSClient } from '@aws-sdk/client-sqs';
import { SQS_BATCH_SIZE } from '@pasteflow/domain';
import { acknowledge, changeVisibility } from './received-messages.ts';
import { rethrowUnavailable, type Queue } from './queue.ts';
import { sendEntries } from './send.ts';

/**
 * Handling a batch takes less than a second. Messages that stay in the queue after a move are returned at its
 * end.
 */
const VISIBILITY_SECONDS = 60;

/**
 * Receives up to 10 messages with their attributes and SentTimestamp, and hides them from other receivers for
 * 60 s.
 * @throws DependencyUnavailableError
 */
export async function receiveDeadLetters(client: SQSClient, queue: Queue): Promise<readonly Message[]> {
  const { Messages = [] } = await client
    .send(
      new ReceiveMessageCommand({
        QueueUrl: await queue.url(),
        MaxNumberOfMessages: SQS_BATCH_SIZE,
        MessageAttributeNames: ['All'],
        MessageSystemAttributeNames: ['SentTimestamp'],
        WaitTimeSeconds: 1, // a short poll may return nothing although the queue has messages
        VisibilityTimeout: VISIBILITY_SECONDS,
      }),
    )
    .catch(rethrowUnavailable);
  return Messages;
}

export interface MovedMessages {
  readonly moved: number;
  /** Malformed messages, which stay. */
  readonly unreadable: number;
  /** Messages that SQS did not accept. They stay, and another run tries them again. */
  readonly refused: number;
}

/**
 * Redrives a dead-letter queue: moves its messages, unchanged and with their attributes, to their original
 * queue. Each batch is sent first and deleted afterwards, so a crash in between leaves messages in both
 * queues, which does no harm. Malformed messages stay.
 * @throws DependencyUnavailableError. The messages moved until then stay moved.
 */
export async function moveDeadLetters(
  client: SQSClient,
  {
    from,
    to,
    read,
    onUnreadable,
  }: {
    readonly from: Queue;
    readonly to: Queue;
    /** Decodes a body. @throws for a malformed one */
    readonly read: (body: string | undefined) => unknown;
    /** Called once for each malformed message. It stays in the dead-letter queue. */
    readonly onUnreadable: (messageId: string, error: unknown) => void;
  },
): Promise<MovedMessages> {
  let moved = 0;
  /** By message id, because a long run may receive the same message again. */
  const unreadable = new Map<string, Message>();
  const refused = new Map<string, Message>();
  const isReadable = (message: Message): boolean => {
    const { MessageId: id = '', Body } = message;
    try {
      read(Body);
      return true;
    } catch (error) {
      if (!unreadable.has(id)) onUnreadable(id, error);
      unreadable.set(id, message);
      return false;
    }
  };
  try {
    for (;;) {
      const messages = await receiveDeadLetters(client, from);
      if (messages.length === 0) return { moved, unreadable: unreadable.size, refused: refused.size };
      const readable = messages.filter(isReadable);
      const entries = readable.map((message) => ({
        message,
        body: message.Body,
        attributes: message.MessageAttributes,
      }));
      const accepted = (await sendEntries(client, to, entries)).map(({ message }) => message);
      await acknowledge(client, from, accepted);
      moved += accepted.length;
      for (const message of readable)
        if (!accepted.includes(message)) refused.set(message.MessageId ?? '', message);
    }
  } finally {
    await returnToQueue(client, from, [...unreadable.values(), ...refused.values()]);
  }
}

/**
 * Makes the messages visible immediately, so that an operator who checks the queue next sees them. A failure
 * here is ignored.
 */
async function returnToQueue(client: SQSClient, queue: Queue, messages: readonly Message[]): Promise<void> {
  const changes = messages.flatMap(({ ReceiptHandle }) =>
    ReceiptHandle === undefined ? [] : [{ receiptHandle: ReceiptHandle, seconds: 0 }],
  );
  await changeVisibility(client, queue, changes).catch(() => {});
}
