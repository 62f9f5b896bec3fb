import { cannotWrite } from '@pasteflow/postgres';
import type { Metrics } from '@pasteflow/runtime';

/**
 * Whether Postgres could write the last paste. While its disk is full or it is read only, reads go on, so that
 * the api stays ready. A test write would not tell: rows go on to fit into pages that have room.
 */
export class LastWrite {
  readonly #refusals: { inc(): void };
  #refusal: unknown = null;

  constructor(metrics: Metrics) {
    this.#refusals = metrics.counter({
      name: 'postgres_writes_refused_total',
      help: 'New pastes that Postgres could not write, because its disk is full or it is read only.',
    });
  }

  succeeded(): void {
    this.#refusal = null;
  }

  failed(error: unknown): void {
    if (!cannotWrite(error)) return;
    this.#refusal = error;
    this.#refusals.inc();
  }

  /** The readiness check, which is not required. */
  async requireWritten(): Promise<void> {
    if (this.#refusal !== null)
      throw new Error('Postgres could not write the last paste', { cause: this.#refusal });
    return Promise.resolve();
  }
}
