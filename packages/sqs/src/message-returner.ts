import type { SQSClient } from '@aws-sdk/client-sqs';
import type { Queue } from './queue.ts';
import { changeVisibility } from './visibility.ts';

/** SQS keeps a message hidden for 12 hours at most. */
const MAX_VISIBILITY_SECONDS = 43_200;

/**
 * Gives messages back to SQS so that they come back after a wait in milliseconds. SQS counts in whole seconds: the fraction passes here
 * first, in a timer, and the whole seconds as visibility. Nobody waits for it, and a waiting retry holds no worker slot (R4).
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

  /** Never throws: a message that can't be given back comes back when its visibility ends. */
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

  /** Gives back at once what still waits here, a second early at most, and resolves when SQS has answered. */
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
