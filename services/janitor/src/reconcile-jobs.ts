import { JOB_OBJECT_KEY_PREFIX, jobIdOfKey } from '@pasteflow/domain';
import { findLiveJobs, findOpenJobs, type Database } from '@pasteflow/postgres';
import type { Logger } from '@pasteflow/runtime';
import type { ListedObject, ObjectStore } from '@pasteflow/s3';
import { Findings, MAX_NAMED } from './findings.ts';

export interface ReconcileJobsOptions {
  readonly db: Database;
  readonly store: ObjectStore;
  readonly logger: Logger;
}

/**
 * Compares the jobs' folders with the table: removes old objects of jobs that have no row, which a worker put that outlived its job's
 * removal; and aborts old multipart uploads of jobs that have ended, which a worker left that died. Those of a job that is still open may
 * be a very long export's: they are left alone until it has ended.
 */
export async function reconcileJobs(
  options: ReconcileJobsOptions,
  oldEnough: Date,
  signal: AbortSignal,
): Promise<Record<'listed' | 'removed' | 'refused' | 'foreign' | 'aborted', number>> {
  const { store, logger } = options;
  const foreign = new Findings();
  const counts = { listed: 0, removed: 0, refused: 0, aborted: 0 };
  for await (const page of store.list(JOB_OBJECT_KEY_PREFIX)) {
    if (signal.aborted) break;
    foreign.add(page.map(({ key }) => key).filter((key) => jobIdOfKey(key) === null));
    const { removed, refused } = await removeOrphans(options, page, oldEnough);
    counts.listed += page.length;
    counts.removed += removed;
    counts.refused += refused;
  }
  if (foreign.count > 0)
    logger.warn("objects under jobs/ that are not a job's", { count: foreign.count, keys: foreign.named });
  if (!signal.aborted) counts.aborted = await abortStrays(options, oldEnough, signal);
  return { ...counts, foreign: foreign.count };
}

async function removeOrphans(
  { db, store, logger }: ReconcileJobsOptions,
  page: readonly ListedObject[],
  oldEnough: Date,
): Promise<{ removed: number; refused: number }> {
  const old = page.filter(({ lastModified }) => lastModified <= oldEnough).map(({ key }) => key);
  const live = await findLiveJobs(db, jobIdsOf(old));
  const orphans = old.filter((key) => isOfJob(key, (id) => !live.has(id)));
  const refused = (await store.deleteMany(orphans)).length;
  if (orphans.length > 0) {
    const keys = orphans.slice(0, MAX_NAMED);
    logger.warn('objects of jobs that are gone were deleted', { count: orphans.length, refused, keys });
  }
  return { removed: orphans.length - refused, refused };
}

async function abortStrays(
  { db, store, logger }: ReconcileJobsOptions,
  oldEnough: Date,
  signal: AbortSignal,
): Promise<number> {
  const aborted = new Findings();
  for await (const page of store.listMultipartUploads(JOB_OBJECT_KEY_PREFIX)) {
    const old = page.filter(({ initiatedAt }) => initiatedAt <= oldEnough);
    const open = await findOpenJobs(db, jobIdsOf(old.map(({ key }) => key)));
    for (const upload of old) {
      if (signal.aborted) break;
      if (!isOfJob(upload.key, (id) => !open.has(id))) continue;
      await store.abortMultipartUpload(upload);
      aborted.add([upload.key]);
    }
  }
  if (aborted.count > 0)
    logger.warn('multipart uploads that jobs had left were aborted', {
      count: aborted.count,
      keys: aborted.named,
    });
  return aborted.count;
}

function jobIdsOf(keys: readonly string[]): readonly string[] {
  return [...new Set(keys.flatMap((key) => jobIdOfKey(key) ?? []))];
}

function isOfJob(key: string, accept: (jobId: string) => boolean): boolean {
  const jobId = jobIdOfKey(key);
  return jobId !== null && accept(jobId);
}
