import { jobKeyPrefix, MAX_PAGE_SIZE } from '@pasteflow/domain';
import { listAssets, type Place } from '@pasteflow/postgres';
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
