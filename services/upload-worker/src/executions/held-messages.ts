import { SQS_BATCH_SIZE } from '@pasteflow/domain';
import type { Delivery, MessageReturner, VisibilityChange } from '@pasteflow/sqs';

/**
 * Delay of a message that was returned because Postgres did not answer the claim, or because its settlement
 * did not count.
 */
export const RETURN_DELAY_MS = 1000;

/**
 * Delay of a message whose work is paused. It is longer than a long poll: a worker whose gate has closed does
 * not receive the message once more.
 */
export const PAUSED_DELAY_MS = 6000;

/** The messages of one queue that this process holds. A heartbeat extends their visibility timeout. */
export class HeldMessages {
  readonly #options;
  readonly #held = new Set<string>();
  #hiding: Promise<void> = Promise.resolve();

  constructor(options: {
    readonly visibilitySeconds: number;
    readonly changeVisibility: (changes: readonly VisibilityChange[]) => Promise<void>;
    readonly returner: Pick<MessageReturner, 'returnToQueue'>;
  }) {
    this.#options = options;
  }

  /**
   * Holds the messages of a batch while `work` runs. A message that is returned to its queue is no longer
   * held.
   */
  async whileHeld<T>(deliveries: readonly Delivery<unknown>[], work: () => Promise<T>): Promise<T> {
    for (const { receiptHandle } of deliveries) this.hold(receiptHandle);
    try {
      return await work();
    } finally {
      for (const { receiptHandle } of deliveries) this.letGo(receiptHandle);
    }
  }

  /** Holds a message until `letGo` or `returnToQueue` is called. */
  hold(receiptHandle: string): void {
    this.#held.add(receiptHandle);
  }

  letGo(receiptHandle: string): void {
    this.#held.delete(receiptHandle);
  }

  /**
   * Returns a message to its queue with a delay. First waits for a running request of `keepHidden`, which
   * could otherwise hide the message again. Does not wait for SQS to answer.
   */
  async returnToQueue({ receiptHandle }: Delivery<unknown>, waitMs: number): Promise<void> {
    this.#held.delete(receiptHandle);
    await this.#hiding;
    this.#options.returner.returnToQueue(receiptHandle, waitMs);
  }

  /**
   * Extends the visibility timeout of the held messages. Runs as often as leases are renewed, but separately,
   * so that no lease expires while SQS does not answer. A message that is delivered again too early does no
   * harm.
   * @throws when SQS does not answer
   */
  async keepHidden(): Promise<void> {
    const seconds = this.#options.visibilitySeconds;
    const asked = [...this.#held];
    while (asked.length > 0) {
      // Filtered before each request, because a message returned in the meantime must not be hidden again.
      const changes = asked
        .splice(0, SQS_BATCH_SIZE)
        .filter((receiptHandle) => this.#held.has(receiptHandle))
        .map((receiptHandle) => ({ receiptHandle, seconds }));
      if (changes.length === 0) continue;
      const request = this.#options.changeVisibility(changes);
      this.#hiding = request.catch(() => {});
      await request;
    }
  }
}
