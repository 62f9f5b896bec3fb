import {
  dropOldTransitions,
  ensureTransitionPartitions,
  removeTombstones,
  type Database,
} from '@pasteflow/postgres';
import { removeInBatches } from '../sweeping/remove-in-batches.ts';
import type { Sweep, SweepCounts } from '../sweeping/sweep.ts';

export interface TombstonesOptions {
  readonly db: Database;
  readonly tombstoneRetentionSeconds: number;
  readonly transitionRetentionSeconds: number;
}

const BATCH = 1000;

/** Only after two months without a janitor do transitions go into the default partition. */
const MONTHS_AHEAD = 2;

/**
 * Removes tombstones (DELETED rows) and transitions after their retention, and makes the partitions of the coming months. Transitions are
 * removed a month at a time, by dropping their partition.
 */
export class Tombstones implements Sweep {
  readonly name = 'tombstones';
  readonly #options: TombstonesOptions;

  constructor(options: TombstonesOptions) {
    this.#options = options;
  }

  async runOnce(signal: AbortSignal): Promise<SweepCounts> {
    const { db, tombstoneRetentionSeconds, transitionRetentionSeconds } = this.#options;
    const partitionsMade = await ensureTransitionPartitions(db, MONTHS_AHEAD);
    const dropped = await dropOldTransitions(db, transitionRetentionSeconds);
    const batches = { limit: BATCH, signal };
    return {
      removed: await removeInBatches(batches, (limit) =>
        removeTombstones(db, { retentionSeconds: tombstoneRetentionSeconds, limit }),
      ),
      partitions_made: partitionsMade,
      partitions_dropped: dropped.length,
    };
  }
}
