import { measureTransitions, searchUncounted, type Portion } from '@pasteflow/postgres';
import { inPortionedBatches } from './running/batches.ts';
import { defineSweep, type Sweep } from './running/sweep.ts';
import type { JanitorContext } from './context.ts';

/**
 * The statements of a busy second. With a thousand transitions each, half a million transitions take about 1
 * s.
 */
const BATCH = 500;

/** Adds new transitions to the statistics from which the metrics are made. */
export function createMeasure({ db }: Pick<JanitorContext, 'db'>): Sweep<'measure'> {
  return defineSweep('measure', { counted: 0 }, async (counts, signal, refused) => {
    let after: string | null = null;
    await inPortionedBatches(
      { db, table: 'uncounted_transitions', limit: BATCH, signal, refused },
      {
        search: (portion: Portion) => searchUncounted({ after, ...portion }),
        run: (portion: Portion) => measureTransitions(db, { after, ...portion }),
      },
      ({ rows, transitions, last }) => {
        counts.counted += transitions;
        after = last ?? after;
        return rows;
      },
    );
  });
}
