import {
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  type Message,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { SQS_BATCH_SIZE } from '@pasteflow/domain';
import { acknowledge } from './dead-letters.ts';
import { rethrowUnavailable, type Queue } from './queue.ts';
import { changeVisibility } from './visibility.ts';

export interface MoveOptions {
  readonly from: Queue;
  readonly to: Queue;
  /** @throws for a body that no worker can read */
  readonly read: (body: string | undefined) => unknown;
  /** Told of a message that stays. */
  readonly onUnreadable: (messageId: string, error: unknown) => void;
}

export interface MovedMessages {
  readonly moved: number;
  /** What no worker can read. */
  readonly unreadable: number;
  /** What SQS didn't take: another run finds it. */
  readonly refused: number;
}

/** Seconds: a batch is moved within one, and what stays is given back at the end. */
const HIDDEN_SECONDS = 60;

/**
 * Moves the messages of a dead-letter queue, as they are and with their attributes, to the queue that they came from: sent first and
 * deleted then, so that dying in between leaves a message in both, which does no harm. What no worker can read stays.
 * @throws DependencyUnavailableError; what has been moved by then is moved
 */
export async function moveDeadLetters(
  client: SQSClient,
  { from, to, read, onUnreadable }: MoveOptions,
): Promise<MovedMessages> {
  let moved = 0;
  /** By id: a long run may receive them once more. */
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
      const messages = await receive(client, from);
      if (messages.length === 0) return { moved, unreadable: unreadable.size, refused: refused.size };
      const readable = messages.filter(isReadable);
      const taken = await send(client, to, readable);
      await acknowledge(client, from, taken);
      moved += taken.length;
      for (const message of readable)
        if (!taken.includes(message)) refused.set(message.MessageId ?? '', message);
    }
  } finally {
    await returnToQueue(client, from, [...unreadable.values(), ...refused.values()]);
  }
}

async function receive(client: SQSClient, queue: Queue): Promise<readonly Message[]> {
  const { Messages = [] } = await client
    .send(
      new ReceiveMessageCommand({
        QueueUrl: await queue.url(),
        MaxNumberOfMessages: SQS_BATCH_SIZE,
        MessageAttributeNames: ['All'],
        WaitTimeSeconds: 1, // a short poll may find nothing where there is something
        VisibilityTimeout: HIDDEN_SECONDS,
      }),
    )
    .catch(rethrowUnavailable);
  return Messages;
}

/** @returns those that SQS has taken */
async function send(
  client: SQSClient,
  queue: Queue,
  messages: readonly Message[],
): Promise<readonly Message[]> {
  if (messages.length === 0) return [];
  const { Successful = [] } = await client
    .send(
      new SendMessageBatchCommand({
        QueueUrl: await queue.url(),
        Entries: messages.map(({ Body, MessageAttributes }, index) => ({
          Id: String(index),
          MessageBody: Body,
          MessageAttributes,
        })),
      }),
    )
    .catch(rethrowUnavailable);
  return Successful.flatMap(({ Id }) => messages[Number(Id)] ?? []);
}

/** Hidden until their time is up they would be missing in what the operator looks at next. That alone is no reason to fail. */
async function returnToQueue(client: SQSClient, queue: Queue, messages: readonly Message[]): Promise<void> {
  const changes = messages.flatMap(({ ReceiptHandle }) =>
    ReceiptHandle === undefined ? [] : [{ receiptHandle: ReceiptHandle, seconds: 0 }],
  );
  await changeVisibility(client, queue, changes).catch(() => {});
}
