import { ChangeMessageVisibilityBatchCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { rethrowUnavailable, sqsBatches, type Queue } from './queue.ts';

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

/**
 * Returns messages to their queue with a delay in milliseconds. SQS counts in whole seconds, so the fraction
 * of a second passes in a timer here, and the whole seconds as visibility timeout. No caller waits for
 * either, so a waiting retry holds no worker slot.
 */
export class MessageReturner {
  readonly #client: SQSClient;
  readonly #queue: Queue;
  readonly #onError: (error: unknown) => void;
  readonly #fractions = new Map<string, { timer: NodeJS.Timeout; seconds: number }>();
  readonly #requests = new Set<Promise<void>>();

  constructor(client: SQSClient, queue: Queue, onError: (error: unknown) => void) {
    this.#client = client;
    this.#queue = queue;
    this.#onError = onError;
  }

  /** Never throws. A message that cannot be returned is delivered again when its visibility timeout ends. */
  returnToQueue(receiptHandle: string, waitMs: number): void {
    const seconds = Math.min(Math.floor(waitMs / 1000), MAX_VISIBILITY_SECONDS);
    const fraction = waitMs - seconds * 1000;
    if (fraction <= 0 || seconds === MAX_VISIBILITY_SECONDS) return this.#change(receiptHandle, seconds);
    const timer = setTimeout(() => {
      this.#fractions.delete(receiptHandle);
      this.#change(receiptHandle, seconds);
    }, fraction);
    this.#fractions.set(receiptHandle, { timer, seconds });
  }

  /** Returns all waiting messages immediately, at most a second early, and resolves when SQS has answered. */
  async stop(): Promise<void> {
    for (const [receiptHandle, { timer, seconds }] of this.#fractions) {
      clearTimeout(timer);
      this.#change(receiptHandle, seconds);
    }
    this.#fractions.clear();
    await Promise.all(this.#requests);
  }

  #change(receiptHandle: string, seconds: number): void {
    const request = changeVisibility(this.#client, this.#queue, [{ receiptHandle, seconds }])
      .catch(this.#onError)
      .finally(() => this.#requests.delete(request));
    this.#requests.add(request);
  }
}
