import { backoffMs, sleep } from '@pasteflow/runtime';

const BACKOFF = { firstMs: 100, capMs: 1000, jitter: 0.2 };

/**
 * Holds the consumers back while Postgres doesn't answer: without it a received message can't be claimed, and each vain receipt
 * brings the message closer to the dead-letter queue.
 */
export class DatabaseGate {
  readonly #ping: () => Promise<void>;
  #opening: Promise<void> | undefined;
  readonly #stopping = new AbortController();

  constructor(ping: () => Promise<void>) {
    this.#ping = ping;
  }

  /** Postgres has failed somebody. */
  close(): void {
    this.#opening ??= this.#pingUntilUp();
  }

  /** Resolves when Postgres answers, as far as is known. */
  async waitUntilOpen(): Promise<void> {
    await this.#opening;
  }

  stop(): void {
    this.#stopping.abort();
  }

  async #pingUntilUp(): Promise<void> {
    for (let failures = 1; !this.#stopping.signal.aborted; failures++) {
      await sleep(backoffMs(BACKOFF, failures, Math.random()), this.#stopping.signal);
      const answers = await this.#ping().then(
        () => true,
        () => false,
      );
      if (answers) break;
    }
    this.#opening = undefined;
  }
}
