import {
  DELETION_BATCH_SIZE,
  DependencyUnavailableError,
  jobKeyPrefix,
  MAX_PAGE_SIZE,
} from '@pasteflow/domain';
import { findOlderArchives, listAssets, type Place, removeArchives } from '@pasteflow/postgres';
import type { JobContext } from '../../job-type.ts';

/** The key of an archive that an attempt makes: `jobs/<job>/<execution>-<number>.<extension>`. */
export function archiveKey(
  { jobId, executionId }: Pick<JobContext<unknown>, 'jobId' | 'executionId'>,
  name: string,
): string {
  return `${jobKeyPrefix(jobId)}${executionId}-${name}`;
}

/**
 * Removes what earlier attempts at the job left in S3: multipart uploads that were not completed, and objects
 * that did not become assets. Execution ids sort by age, so a zombie attempt does not remove what later
 * attempts store.
 */
export async function removeUnfinishedArchives({
  jobId,
  executionId,
  services: { db, store },
}: Pick<JobContext<unknown>, 'jobId' | 'executionId' | 'services'>): Promise<void> {
  const prefix = jobKeyPrefix(jobId);
  const isEarlier = (key: string): boolean =>
    key.slice(prefix.length, prefix.length + executionId.length) < executionId;
  for await (const page of store.listMultipartUploads(prefix))
    for (const upload of page) if (isEarlier(upload.key)) await store.abortMultipartUpload(upload);
  for await (const page of store.list(prefix)) {
    const earlier = page.map(({ key }) => key).filter(isEarlier);
    if (earlier.length === 0) continue;
    const assets = await assetKeys(db, jobId);
    await store.deleteMany(earlier.filter((key) => !assets.has(key)));
  }
}

async function assetKeys(
  db: JobContext<unknown>['services']['db'],
  jobId: string,
): Promise<ReadonlySet<string>> {
  const keys = new Set<string>();
  let after: Place | null = null;
  do {
    const page: Awaited<ReturnType<typeof listAssets>> = await listAssets(db, jobId, {
      limit: MAX_PAGE_SIZE,
      after,
    });
    for (const { storage_path: key } of page.rows) keys.add(key);
    after = page.next;
  } while (after !== null);
  return keys;
}

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
