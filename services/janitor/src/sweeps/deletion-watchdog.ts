import { DELETION_BATCH_SIZE } from '@pasteflow/domain';
import { resetStuckDeletions, type Actor, type Database } from '@pasteflow/postgres';
import { inBatches } from '../sweep-runner/batches.ts';
import { defineSweep, type Sweep } from '../sweep-runner/sweep.ts';

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
  return defineSweep('deletion-watchdog', { reset: 0 }, (counts, signal) =>
    inBatches({ limit: DELETION_BATCH_SIZE, signal }, async (limit) => {
      const reset = await resetStuckDeletions(db, { actor, stuckAfterSeconds, limit });
      counts.reset += reset;
      return reset;
    }),
  );
}
