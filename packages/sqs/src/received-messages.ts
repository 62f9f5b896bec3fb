import {
  DeleteMessageBatchCommand,
  type Message,
  type SQSClient,
  ChangeMessageVisibilityBatchCommand,
} from '@aws-sdk/client-sqs';
import { SQS_BATCH_SIZE } from '@pasteflow/domain';
import { Batcher } from '@pasteflow/runtime';
import { rethrowUnavailable, type Queue, sqsBatches } from './queue.ts';

/** Deletes up to 10 messages by one request. @throws DependencyUnavailableError */
export async function acknowledge(
  client: SQSClient,
  queue: Queue,
  messages: readonly Message[],
): Promise<void> {
  if (messages.length === 0) return;
  await client
    .send(
      new DeleteMessageBatchCommand({
        QueueUrl: await queue.url(),
        Entries: messages.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle })),
      }),
    )
    .catch(rethrowUnavailable);
}

/**
 * How long a message waits for others to share its request, in ms. At 50 messages a second that fills a
 * request. Nobody waits for it: the outcome is in Postgres already, and a message that comes back because of
 * a crash is found to have ended.
 */
const DELETE_LINGER_MS = 200;

/** Deletes messages from their queue, 10 in a request, whichever batches they were received in. */
export class Acknowledger {
  readonly #requests: Batcher<Message, Message>;

  /** @param onError called when a request failed. Its messages come back. */
  constructor(client: SQSClient, queue: Queue, onError: (error: unknown) => void) {
    this.#requests = new Batcher({
      run: async (messages) => {
        await acknowledge(client, queue, messages).catch(onError);
        return messages;
      },
      maxItems: SQS_BATCH_SIZE,
      lingerMs: DELETE_LINGER_MS,
    });
  }

  /** Resolves when SQS has answered, or the request has failed. Never throws. */
  async acknowledge(message: Message): Promise<void> {
    await this.#requests.call(message);
  }
}

export interface VisibilityChange {
  readonly receiptHandle: string;
  /** The new visibility timeout from now on, in whole seconds. 0 makes the message visible immediately. */
  readonly seconds: number;
}

/**
 * Changes the visibility timeout of messages, 10 per request. SQS rejects the entry of a message whose
 * visibility timeout has ended or that was deleted. These entries are ignored, because such a message needs
 * nothing more.
 * @throws DependencyUnavailableError
 */
export async function changeVisibility(
  client: SQSClient,
  queue: Queue,
  changes: readonly VisibilityChange[],
): Promise<void> {
  for (const batch of sqsBatches(changes)) {
    await client
      .send(
        new ChangeMessageVisibilityBatchCommand({
          QueueUrl: await queue.url(),
          Entries: batch.map(({ receiptHandle, seconds }, index) => ({
            Id: String(index),
            ReceiptHandle: receiptHandle,
            VisibilityTimeout: seconds,
          })),
        }),
      )
      .catch(rethrowUnavailable);
  }
}

/** The maximum visibility timeout of SQS: 12 hours. */
const MAX_VISIBILITY_SECONDS = 43_200;

/** How long a message that is due waits for others to share its request, in ms: those of a batch come together. */
const RETURN_LINGER_MS = 5;

/**
 * Returns messages to their queue with a delay in milliseconds. SQS counts in whole seconds, so the fraction
 * of a second passes in a timer here, and the whole seconds as visibility timeout. No caller waits for
 * either, so a waiting retry holds no worker slot.
 */
export class MessageReturner {
  readonly #requests: Batcher<VisibilityChange, VisibilityChange>;
  readonly #fractions = new Map<VisibilityChange, NodeJS.Timeout>();

  constructor(client: SQSClient, queue: Queue, onError: (error: unknown) => void) {
    this.#requests = new Batcher({
      run: async (changes) => {
        await changeVisibility(client, queue, changes).catch(onError);
        return changes;
      },
      maxItems: SQS_BATCH_SIZE,
      lingerMs: RETURN_LINGER_MS,
    });
  }

  /** Never throws. A message that cannot be returned is delivered again when its visibility timeout ends. */
  returnToQueue(receiptHandle: string, waitMs: number): void {
    const seconds = Math.min(Math.floor(waitMs / 1000), MAX_VISIBILITY_SECONDS);
    const fraction = waitMs - seconds * 1000;
    const change = { receiptHandle, seconds };
    if (fraction <= 0 || seconds === MAX_VISIBILITY_SECONDS) return this.#change(change);
    this.#fractions.set(
      change,
      setTimeout(() => this.#change(change), fraction),
    );
  }

  /** Returns all waiting messages immediately, at most a second early, and resolves when SQS has answered. */
  async stop(): Promise<void> {
    for (const [change, timer] of this.#fractions) {
      clearTimeout(timer);
      this.#change(change);
    }
    await this.#requests.drain();
  }

  #change(change: VisibilityChange): void {
    this.#fractions.delete(change);
    void this.#requests.call(change);
  }
}
