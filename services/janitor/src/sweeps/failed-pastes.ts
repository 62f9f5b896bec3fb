import { DELETION_BATCH_SIZE, objectKeyOf } from '@pasteflow/domain';
import {
  claimOldFailed,
  inHalves,
  removeFailed,
  searchOldFailed,
  type OldFailed,
  type Portion,
} from '@pasteflow/postgres';
import { deleteObjects } from './delete-objects.ts';
import { inPortionedBatches } from './running/batches.ts';
import { defineSweep, type Sweep } from './running/sweep.ts';
import type { JanitorContext } from './context.ts';

/**
 * Removes old FAILED pastes. First the payload goes, which rules out a retry. The object is deleted before
 * the row: one of the six failed puts may have stored the object and lost its answer, and without the row no
 * process would know of the object. When S3 refuses to delete the object, the row stays for the next run.
 */
export function createFailedPastes({
  db,
  store,
  logger,
  failedRetentionSeconds: retentionSeconds,
}: Pick<JanitorContext, 'db' | 'store' | 'logger' | 'failedRetentionSeconds'>): Sweep<'failed-pastes'> {
  return defineSweep('failed-pastes', { removed: 0, refused: 0 }, async (counts, signal, refusedRows) => {
    let after: OldFailed | null = null;
    const batches = { db, table: 'pastes', limit: DELETION_BATCH_SIZE, signal, refused: refusedRows };
    const old = {
      search: (portion: Portion) => searchOldFailed({ retentionSeconds, after, ...portion }),
      run: (portion: Portion) => claimOldFailed(db, { retentionSeconds, after, ...portion }),
    };
    await inPortionedBatches(batches, old, async (failed) => {
      const refused = await deleteObjects(
        store,
        failed.map(({ shortCode }) => objectKeyOf(shortCode)),
      );
      if (refused.size > 0) {
        const [reason] = refused.values();
        logger.warn('objects of failed pastes not deleted', { count: refused.size, reason });
      }
      counts.refused += refused.size;
      const deleted = failed.filter(({ shortCode }) => !refused.has(objectKeyOf(shortCode)));
      const ids = deleted.map(({ id }) => id);
      const removed = await inHalves(ids, (part) => removeFailed(db, part), refusedRows.of('pastes'));
      for (const count of removed) counts.removed += count;
      after = failed.at(-1) ?? after;
      return failed.length;
    });
  });
}
