import { DELETION_BATCH_SIZE } from '@pasteflow/domain';
import { findOlderArchives, removeArchives } from '@pasteflow/postgres';
import type { JobContext } from '../../definition/job-type.ts';

/** Exports of a user whose archives stay. Archives count in no quota, so that a full user can export. */
const KEPT_EXPORTS = 3;

/**
 * Removes the archives of the user's older exports, their objects first. The exports stay, without archives. What
 * S3 does not delete is left to the next export. A download that runs meanwhile ends or breaks off, as at the end
 * of the 30 days.
 * @param own how many of the exports that are kept this one is
 */
export async function removeOlderArchives(
  { executionId, jobId, userId, logger, services: { db, store } }: JobContext<unknown>,
  { own }: { readonly own: number },
): Promise<void> {
  const older = { userId, kept: KEPT_EXPORTS - own, limit: DELETION_BATCH_SIZE };
  for (;;) {
    const archives = await findOlderArchives(db, older);
    if (archives.length === 0) return;
    const refused = new Map(
      (await store.deleteMany(archives.map(({ storagePath }) => storagePath))).map(({ key, reason }) => [
        key,
        reason,
      ]),
    );
    const deleted = archives.filter(({ storagePath }) => !refused.has(storagePath));
    await removeArchives(db, { executionId, jobId, archives: deleted });
    logger.info('archives of older exports removed', { count: deleted.length, refused: refused.size });
    if (refused.size > 0 || archives.length < older.limit) return;
  }
}
