import {
  dropOldTransitions,
  ensureTransitionPartitions,
  removeStrayTransitions,
  removeTombstones,
  type Database,
} from '@pasteflow/postgres';
import type { Sweep, SweepCounts } from '../sweeping/sweep.ts';

export interface TombstonesOptions {
  readonly db: Database;
  readonly tombstoneRetentionSeconds: number;
  readonly transitionRetentionSeconds: number;
}

const BATCH = 1000;

/** A janitor may be away for two months before transitions fall into the default partition. */
const MONTHS_AHEAD = 2;

/** Removes what has been kept long enough: DELETED rows, and transitions, which go by the month. Makes the coming months' partitions. */
export class Tombstones implements Sweep {
  readonly name = 'tombstones';
  readonly #options: TombstonesOptions;

  constructor(options: TombstonesOptions) {
    this.#options = options;
  }

  /** `strays` are old transitions of the default partition. */
  async runOnce(signal: AbortSignal): Promise<SweepCounts> {
    const { db, tombstoneRetentionSeconds, transitionRetentionSeconds } = this.#options;
    const partitionsMade = await ensureTransitionPartitions(db, MONTHS_AHEAD);
    const dropped = await dropOldTransitions(db, transitionRetentionSeconds);
    const inBatches = async (remove: () => Promise<number>): Promise<number> => {
      let total = 0;
      while (!signal.aborted) {
        const removed = await remove();
        total += removed;
        if (removed < BATCH) break;
      }
      return total;
    };
    return {
      removed: await inBatches(() =>
        removeTombstones(db, { retentionSeconds: tombstoneRetentionSeconds, limit: BATCH }),
      ),
      strays: await inBatches(() =>
        removeStrayTransitions(db, { retentionSeconds: transitionRetentionSeconds, limit: BATCH }),
      ),
      partitions_made: partitionsMade,
      partitions_dropped: dropped.length,
    };
  }
}
