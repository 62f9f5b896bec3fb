import { SQS_BATCH_SIZE } from '@pasteflow/domain';
import type { Delivery, MessageReturner, VisibilityChange } from '@pasteflow/sqs';

/** When a message could not be claimed because Postgres is away, or its settlement was lost, it is looked at again this much later. */
export const RETURN_DELAY_MS = 1000;

export interface HeldMessagesOptions {
  readonly visibilitySeconds: number;
  readonly changeVisibility: (changes: readonly VisibilityChange[]) => Promise<void>;
  readonly returner: Pick<MessageReturner, 'returnToQueue'>;
}

/** The messages of one queue that this process holds; its heartbeat keeps them hidden from others. */
export class HeldMessages {
  readonly #options: HeldMessagesOptions;
  readonly #held = new Set<string>();
  #hiding: Promise<void> = Promise.resolve();

  constructor(options: HeldMessagesOptions) {
    this.#options = options;
  }

  /** Holds a batch while it is worked on; what was given back meanwhile is held no longer. */
  async whileHeld<T>(deliveries: readonly Delivery<unknown>[], work: () => Promise<T>): Promise<T> {
    for (const { receiptHandle } of deliveries) this.#held.add(receiptHandle);
    try {
      return await work();
    } finally {
      for (const { receiptHandle } of deliveries) this.#held.delete(receiptHandle);
    }
  }

  /**
   * Gives a message back so that it comes back after `waitMs`; not before a request of `keepHidden` has ended that is under way and could
   * hide the message again. Resolves when it has been handed on; nobody waits for SQS.
   */
  async returnToQueue({ receiptHandle }: Delivery<unknown>, waitMs: number): Promise<void> {
    this.#held.delete(receiptHandle);
    await this.#hiding;
    this.#options.returner.returnToQueue(receiptHandle, waitMs);
  }

  /**
   * Keeps the messages hidden that are held: as often as the leases are renewed, but apart from them, so that no lease is lost while SQS
   * swallows a request. A message that comes back too early does no harm.
   * @throws when SQS doesn't answer
   */
  async keepHidden(): Promise<void> {
    const seconds = this.#options.visibilitySeconds;
    const asked = [...this.#held];
    while (asked.length > 0) {
      // Looked at again before each request: what was given back meanwhile must not be hidden again.
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
