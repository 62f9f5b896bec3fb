import { DELETION_BATCH_SIZE, DependencyUnavailableError } from '@pasteflow/domain';
import { findOlderArchives, removeArchives } from '@pasteflow/postgres';
import type { JobContext } from '../../job-type.ts';

/** Exports of a user whose archives stay. Archives count in no quota, so that a full user can export. */
const KEPT_EXPORTS = 3;

/**
 * Removes the archives of the user's older exports, their objects first. The exports stay, without archives. What
 * S3 does not delete is left to the next export, since this one can do its work. A download that runs meanwhile
 * ends or breaks off, as at the end of the 30 days.
 * @param own how many of the exports that are kept this one is
 */
export async function removeOlderArchives(
  context: JobContext<unknown>,
  { own }: { readonly own: number },
): Promise<void> {
  const older = { userId: context.userId, kept: KEPT_EXPORTS - own, limit: DELETION_BATCH_SIZE };
  try {
    while ((await removeBatch(context, older)) === older.limit);
  } catch (error) {
    if (!(error instanceof DependencyUnavailableError) || error.dependency !== 's3') throw error;
    context.logger.warn('archives of older exports not removed', { error });
  }
}

/** @returns how many it removed */
async function removeBatch(
  { executionId, jobId, logger, services: { db, store } }: JobContext<unknown>,
  older: Parameters<typeof findOlderArchives>[1],
): Promise<number> {
  const archives = await findOlderArchives(db, older);
  if (archives.length === 0) return 0;
  const refused = await store.deleteMany(archives.map(({ storagePath }) => storagePath));
  const left = new Set(refused.map(({ key }) => key));
  const deleted = archives.filter(({ storagePath }) => !left.has(storagePath));
  const count = await removeArchives(db, { executionId, jobId, archives: deleted });
  logger.info('archives of older exports removed', { count, refused: left.size });
  return count;
}
