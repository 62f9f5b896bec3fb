import { DependencyUnavailableError, jobKeyPrefix } from '@pasteflow/domain';
import { findOldJobs, inHalves, removeJobs, type EndedJob, type OldJob } from '@pasteflow/postgres';
import { describeS3Error, type ObjectStore } from '@pasteflow/s3';
import { inBatches, inLanes } from './running/batches.ts';
import type { RefusedRows } from './running/refused-rows.ts';
import { defineSweep, type Sweep } from './running/sweep.ts';
import type { JanitorContext } from './context.ts';

/**
 * Rows a statement. Their folders are emptied before, with at least two requests each: some 50 a second in each
 * lane.
 */
const BATCH = 200;

/** Folders emptied concurrently. */
const LANES = 8;

interface FolderCounts {
  objects: number;
  aborted: number;
}

interface JobCounts extends FolderCounts {
  removed: number;
  refused: number;
}

interface JobRun {
  readonly counts: JobCounts;
  readonly signal: AbortSignal;
  readonly refused: RefusedRows;
}

/**
 * Removes jobs that ended long ago: first the objects and the unfinished multipart uploads in the job's
 * folder, then the row with its assets and executions. Without the row, no statement would find the objects.
 * A job whose folder S3 fails to empty keeps its row for the next run, and doesn't delay the others. The
 * pastes of an import don't belong to the job, and stay.
 *
 * A worker that was frozen in the middle of a put may resume after this sweep and finish the put. The worker
 * was declared lost while its job was still open, so this takes a freeze longer than the retention time. The
 * object then has no row, and `reconcile` removes it a day later. A put between the two halves of this sweep
 * does no harm either: each attempt has its own key, so a put adds an object and replaces none.
 *
 * Counts of jobs: `removed`; `refused`: the folder could not be emptied. Counts for all these jobs: `objects`
 * deleted, and multipart uploads `aborted`.
 */
export function createJobs(
  {
    db,
    store,
    jobRetentionSeconds: retentionSeconds,
    logger,
  }: Pick<JanitorContext, 'db' | 'store' | 'jobRetentionSeconds' | 'logger'>,
  batch = BATCH,
): Sweep<'jobs'> {
  const zero = { removed: 0, refused: 0, objects: 0, aborted: 0 };
  return defineSweep('jobs', zero, async (counts, signal, refused) => {
    let after: OldJob | null = null;
    await inBatches({ limit: batch, signal }, async (limit) => {
      const old = await findOldJobs(db, { retentionSeconds, after, limit });
      await removeWithFolders({ db, store, logger }, old, { counts, signal, refused });
      after = old.at(-1) ?? null;
      return old.length;
    });
  });
}

/**
 * Empties the folders of jobs that have ended, and removes the rows of those that are empty.
 * @throws DependencyUnavailableError when S3 doesn't answer at all
 */
export async function removeWithFolders(
  { db, store, logger }: Pick<JanitorContext, 'db' | 'store' | 'logger'>,
  ended: readonly EndedJob[],
  { counts, signal, refused: refusedRows }: JobRun,
): Promise<void> {
  const waiting = new Set(refusedRows.waiting('jobs'));
  const emptied: EndedJob[] = [];
  const refused = new Map<string, string>();
  try {
    const tried = ended.filter(({ id }) => !waiting.has(id));
    await inLanes(tried, { lanes: LANES, signal }, async (job) => {
      const reason = await tryToEmpty(store, job.id, counts, signal);
      if (reason === null) emptied.push(job);
      else refused.set(job.id, reason);
    });
  } finally {
    const onRefused = refusedRows.of('jobs');
    const removed = await inHalves(
      emptied,
      (part) => removeJobs(db, part),
      ({ id }, error) => onRefused(id, error),
    );
    for (const count of removed) counts.removed += count;
  }
  const [reason] = refused.values();
  if (reason !== undefined) logger.warn('objects of old jobs not deleted', { count: refused.size, reason });
  counts.refused += refused.size;
}

/**
 * @returns why the folder could not be emptied; null: it is empty
 * @throws DependencyUnavailableError when the cause is not this folder: S3 doesn't answer at all
 */
async function tryToEmpty(
  store: ObjectStore,
  jobId: string,
  counts: FolderCounts,
  signal: AbortSignal,
): Promise<string | null> {
  try {
    return await empty(store, jobId, counts);
  } catch (error) {
    if (!(error instanceof DependencyUnavailableError)) throw error;
    await store.ping(signal).catch((away: unknown) => {
      if (!signal.aborted) throw away;
    });
    return describeS3Error(error.cause);
  }
}

/**
 * @returns why S3 refused to delete one of the objects; null: the folder is empty.
 * @throws DependencyUnavailableError
 */
async function empty(store: ObjectStore, jobId: string, counts: FolderCounts): Promise<string | null> {
  const folder = jobKeyPrefix(jobId);
  let reason: string | null = null;
  for await (const page of store.listMultipartUploads(folder)) {
    for (const upload of page) await store.abortMultipartUpload(upload);
    counts.aborted += page.length;
  }
  for await (const page of store.list(folder)) {
    const refused = await store.deleteMany(page.map(({ key }) => key));
    counts.objects += page.length - refused.length;
    reason ??= refused[0]?.reason ?? null;
  }
  return reason;
}
