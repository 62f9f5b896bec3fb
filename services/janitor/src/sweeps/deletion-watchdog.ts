import { DELETION_BATCH_SIZE } from '@pasteflow/domain';
import {
  resetStuckDeletions,
  searchStuckDeletions,
  type Actor,
  type Database,
  type Portion,
} from '@pasteflow/postgres';
import { inPortionedBatches } from './running/batches.ts';
import { defineSweep, type Sweep } from './running/sweep.ts';

/**
 * No request or statement of a cleanup takes ten seconds: a claim of this age belongs to a janitor that crashed,
 * or was frozen.
 */
export const DELETION_STUCK_AFTER_SECONDS = 7200;

export interface DeletionWatchdogOptions {
  readonly db: Database;
  readonly actor: Actor;
  readonly stuckAfterSeconds: number;
}

/** Releases the claims of cleanups that crashed. The next cleanup claims these pastes again. */
export function createDeletionWatchdog({
  db,
  actor,
  stuckAfterSeconds,
}: DeletionWatchdogOptions): Sweep<'deletion-watchdog'> {
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
