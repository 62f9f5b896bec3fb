import { DELETION_BATCH_SIZE } from '@pasteflow/domain';
import { resetStuckDeletions, searchStuckDeletions, type Portion } from '@pasteflow/postgres';
import { inPortionedBatches } from './running/batches.ts';
import { defineSweep, type Sweep } from './running/sweep.ts';
import type { JanitorContext } from './context.ts';

/** Releases the claims of cleanups that crashed. The next cleanup claims these pastes again. */
export function createDeletionWatchdog({
  db,
  actor,
  deletionStuckAfterSeconds: stuckAfterSeconds,
}: Pick<JanitorContext, 'db' | 'actor' | 'deletionStuckAfterSeconds'>): Sweep<'deletion-watchdog'> {
  return defineSweep('deletion-watchdog', { reset: 0 }, (counts, signal, refused) =>
    inPortionedBatches(
      { db, table: 'pastes', limit: DELETION_BATCH_SIZE, signal, refused },
      {
        search: (portion: Portion) => searchStuckDeletions({ stuckAfterSeconds, ...portion }),
        run: (portion: Portion) => resetStuckDeletions(db, { actor, stuckAfterSeconds, ...portion }),
      },
      (reset) => {
        counts.reset += reset;
        return reset;
      },
    ),
  );
}
