import { backoffMs, sleep } from '@pasteflow/runtime';

const BACKOFF = { firstMs: 100, capMs: 1000, jitter: 0.2 };

/**
 * Stops receiving while Postgres does not answer. A message could not be claimed then, and each useless
 * receipt brings it closer to the dead-letter queue.
 */
export class DatabaseGate {
  readonly #ping: () => Promise<void>;
  #opening: Promise<void> | undefined;
  readonly #stopping = new AbortController();

  constructor(ping: () => Promise<void>) {
    this.#ping = ping;
  }

  /** To be called when Postgres did not answer. */
  close(): void {
    this.#opening ??= this.#pingUntilUp();
  }

  /** Resolves when Postgres is believed to answer. */
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
