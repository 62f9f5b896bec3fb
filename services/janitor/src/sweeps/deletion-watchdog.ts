import { DELETION_BATCH_SIZE } from '@pasteflow/domain';
import { resetStuckDeletions, type Actor, type Database } from '@pasteflow/postgres';
import { runCounted } from '../sweeping/attached-counts.ts';
import type { Sweep, SweepCounts } from '../sweeping/sweep.ts';

export interface DeletionWatchdogOptions {
  readonly db: Database;
  readonly actor: Actor;
  readonly stuckAfterSeconds: number;
}

/** Releases the claims of cleanups that crashed (D5). The next cleanup claims these pastes again. */
export class DeletionWatchdog implements Sweep {
  readonly name = 'deletion-watchdog';
  readonly #options: DeletionWatchdogOptions;

  constructor(options: DeletionWatchdogOptions) {
    this.#options = options;
  }

  async runOnce(signal: AbortSignal): Promise<SweepCounts> {
    const { db, actor, stuckAfterSeconds } = this.#options;
    return runCounted({ reset: 0 }, async (counts) => {
      while (!signal.aborted) {
        const reset = await resetStuckDeletions(db, { actor, stuckAfterSeconds, limit: DELETION_BATCH_SIZE });
        counts.reset += reset;
        if (reset < DELETION_BATCH_SIZE) break;
      }
    });
  }
}
