import { backoffMs, sleep } from '@pasteflow/runtime';

const BACKOFF = { firstMs: 100, capMs: 1000, jitter: 0.2 };

/**
 * Stops receiving while messages could not be claimed, because Postgres does not answer, an operator has
 * paused the work, or S3 refuses all uploads. Each useless receipt brings a message closer to the dead-letter queue.
 */
export class ReceiveGate {
  readonly #mayOpen: () => Promise<boolean>;
  #opening: Promise<void> | undefined;
  readonly #stopping = new AbortController();

  /** @param mayOpen asked again and again while the gate is closed; a rejection leaves it closed */
  constructor(mayOpen: () => Promise<boolean>) {
    this.#mayOpen = mayOpen;
  }

  /** To be called when a claim failed, or found a pause. */
  close(): void {
    this.#opening ??= this.#askUntilOpen();
  }

  /** Resolves when claims are believed to be possible. */
  async waitUntilOpen(): Promise<void> {
    await this.#opening;
  }

  stop(): void {
    this.#stopping.abort();
  }

  async #askUntilOpen(): Promise<void> {
    for (let failures = 1; !this.#stopping.signal.aborted; failures++) {
      await sleep(backoffMs(BACKOFF, failures, Math.random()), this.#stopping.signal);
      if (await this.#mayOpen().catch(() => false)) break;
    }
    this.#opening = undefined;
  }
}
