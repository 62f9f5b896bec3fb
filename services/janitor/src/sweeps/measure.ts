import { measureTransitions, type Database } from '@pasteflow/postgres';
import type { Sweep, SweepCounts } from '../sweeping/sweep.ts';

/** About 0.1 s of work, and as many transitions as a busy second writes. */
const BATCH = 5000;

/** Adds new transitions of the audit trail to the statistics from which the metrics are made. */
export class Measure implements Sweep {
  readonly name = 'measure';
  readonly #db: Database;

  constructor({ db }: { readonly db: Database }) {
    this.#db = db;
  }

  async runOnce(signal: AbortSignal): Promise<SweepCounts> {
    let counted = 0;
    while (!signal.aborted) {
      const batch = await measureTransitions(this.#db, { limit: BATCH });
      counted += batch;
      if (batch < BATCH) break;
    }
    return { counted };
  }
}
