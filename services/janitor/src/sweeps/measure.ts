import { measureTransitions, type Database } from '@pasteflow/postgres';
import { inBatches } from '../sweep-runner/batches.ts';
import { defineSweep, type Sweep } from '../sweep-runner/sweep.ts';

/**
 * The statements of a busy second. With a thousand transitions each, half a million transitions take about 1
 * s.
 */
const BATCH = 500;

/** Adds new transitions to the statistics from which the metrics are made. */
export function createMeasure({ db }: { readonly db: Database }): Sweep<'measure'> {
  return defineSweep('measure', { counted: 0 }, async (counts, signal) => {
    let after: string | null = null;
    await inBatches({ limit: BATCH, signal }, async (limit) => {
      const { rows, transitions, last } = await measureTransitions(db, { limit, after });
      counts.counted += transitions;
      after = last;
      return rows;
    });
  });
}
