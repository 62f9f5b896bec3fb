import { measureTransitions, type CountedTransitions, type Database } from '@pasteflow/postgres';
import type { Sweep, SweepCounts } from '../sweeping/sweep.ts';

/** The statements of a busy second. With a thousand transitions each, half a million transitions take about 1 s. */
const BATCH = 500;

/** Adds new transitions to the statistics from which the metrics are made. */
export class Measure implements Sweep {
  readonly name = 'measure';
  readonly #db: Database;

  constructor({ db }: { readonly db: Database }) {
    this.#db = db;
  }

  async runOnce(signal: AbortSignal): Promise<SweepCounts> {
    let counted = 0;
    let after: string | null = null;
    while (!signal.aborted) {
      const { rows, transitions, last }: CountedTransitions = await measureTransitions(this.#db, {
        limit: BATCH,
        after,
      });
      counted += transitions;
      if (rows < BATCH) break;
      after = last;
    }
    return { counted };
  }
}
