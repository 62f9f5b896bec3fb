import { JOB_OBJECT_KEY_PREFIX, jobIdOfKey } from '@pasteflow/domain';
import { findOpenJobs, findStoredAssets } from '@pasteflow/postgres';
import { Findings } from '../running/findings.ts';
import { recordOrphansOf, storedAfter, type Compared, type ReconcileRange } from './reconcile-pastes.ts';

/**
 * Compares the objects under `jobs/` with the tables. Of jobs that have ended or have no row, it records old
 * objects that belong to no asset, and aborts old multipart uploads. A worker leaves such objects when it is
 * killed between object and asset, or when it writes after its job was removed. Objects of an open job are
 * left alone: a very long export may still be writing them. Assets without an object are reported.
 */
export async function reconcileJobs(
  options: Compared,
  range: ReconcileRange,
  counts: Record<'listed' | 'orphans' | 'foreign' | 'missing' | 'aborted', number>,
  signal: AbortSignal,
): Promise<void> {
  const { before, oldEnough } = range;
  const { db, store, jobRetentionSeconds: retentionSeconds, logger } = options;
  const foreign = new Findings();
  const missing = new Findings();
  let after = JOB_OBJECT_KEY_PREFIX;
  const storedUpTo = (upTo: string | null) =>
    storedAfter(after, signal, (last, limit) =>
      findStoredAssets(db, { after: last, upTo, before, retentionSeconds, limit }),
    );
  for await (const page of store.list(JOB_OBJECT_KEY_PREFIX)) {
    if (signal.aborted) break;
    const keys = new Set(page.map(({ key }) => key));
    foreign.add([...keys].filter((key) => jobIdOfKey(key) === null));
    counts.listed += page.length;
    counts.orphans += await recordOrphansOf(
      options,
      page.filter(({ key }) => jobIdOfKey(key) !== null),
      range,
    );
    const upTo = page.at(-1)?.key ?? after;
    for await (const stored of storedUpTo(upTo)) missing.add(stored.filter((key) => !keys.has(key)));
    after = upTo;
  }
  for await (const stored of storedUpTo(null)) missing.add(stored);
  counts.missing += missing.count;
  counts.foreign += foreign.count;
  if (missing.count > 0)
    logger.error('assets without an object', { count: missing.count, keys: missing.named });
  if (foreign.count > 0)
    logger.warn('objects under jobs/ that belong to no job left alone', {
      count: foreign.count,
      keys: foreign.named,
    });
  if (!signal.aborted) counts.aborted += await abortStrays(options, oldEnough, signal);
}

async function abortStrays(
  { db, store, logger }: Compared,
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
    logger.warn('abandoned multipart uploads of jobs aborted', {
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
