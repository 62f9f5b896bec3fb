import { DELETION_BATCH_SIZE } from '@pasteflow/domain';
import { claimOldFailed, removeFailed, type Database, type OldFailed } from '@pasteflow/postgres';
import type { Logger } from '@pasteflow/runtime';
import type { ObjectStore } from '@pasteflow/s3';
import { deleteObjects } from '../sweeping/delete-objects.ts';
import { runCounted } from '../sweeping/attached-counts.ts';
import type { Sweep, SweepCounts } from '../sweeping/sweep.ts';

export interface FailedPastesOptions {
  readonly db: Database;
  readonly store: ObjectStore;
  readonly retentionSeconds: number;
  readonly logger: Logger;
}

/**
 * Removes old FAILED pastes (R6). First the payload goes, which rules out a retry. The object is deleted before the row: one of the six failed puts may have stored the object and lost its
 * answer, and without the row no process would know of the object. When S3 refuses to delete the object, the row stays for the next run.
 */
export class FailedPastes implements Sweep {
  readonly name = 'failed-pastes';
  readonly #options: FailedPastesOptions;

  constructor(options: FailedPastesOptions) {
    this.#options = options;
  }

  async runOnce(signal: AbortSignal): Promise<SweepCounts> {
    const { db, store, retentionSeconds, logger } = this.#options;
    return runCounted({ removed: 0, refused: 0 }, async (counts) => {
      let after: OldFailed | null = null;
      while (!signal.aborted) {
        const failed: readonly OldFailed[] = await claimOldFailed(db, {
          retentionSeconds,
          after,
          limit: DELETION_BATCH_SIZE,
        });
        const shortCodes = failed.map(({ shortCode }) => shortCode);
        const refused = await deleteObjects(store, shortCodes);
        if (refused.size > 0) {
          logger.warn('objects of failed pastes not deleted', {
            count: refused.size,
            reason: [...refused.values()][0],
          });
        }
        counts.refused += refused.size;
        counts.removed += await removeFailed(
          db,
          failed.filter(({ shortCode }) => !refused.has(shortCode)).map(({ id }) => id),
        );
        after = failed.at(-1) ?? null;
        if (failed.length < DELETION_BATCH_SIZE) break;
      }
    });
  }
}
