import {
  DELETION_BATCH_SIZE,
  JOB_OBJECT_KEY_PREFIX,
  jobIdOfKey,
  OBJECT_KEY_PREFIX,
  shortCodeOfKey,
} from '@pasteflow/domain';
import {
  countDueOrphans,
  databaseTime,
  findDueOrphans,
  findLiveObjects,
  forgetOrphans,
  forgetUnseenOrphans,
  findOpenJobs,
  findStoredAssets,
  findStored,
  inHalves,
  recordOrphans,
} from '@pasteflow/postgres';
import type { ListedObject } from '@pasteflow/s3';
import { deleteObjects } from './delete-objects.ts';
import { inBatches } from './running/batches.ts';
import { MAX_NAMED, Findings } from './running/findings.ts';
import { defineSweep, type Sweep } from './running/sweep.ts';
import type { JanitorContext } from './context.ts';
import type { RefusedRows } from './running/refused-rows.ts';

type Needed = Pick<
  JanitorContext,
  | 'db'
  | 'store'
  | 'logger'
  | 'reconcileMinAgeSeconds'
  | 'orphanGraceSeconds'
  | 'allowMassDeletion'
  | 'jobRetentionSeconds'
>;

/**
 * Compares S3 with the tables. The first pass lists the bucket, records the objects without a live row, and
 * reports the rows without an object. Only after a complete pass are those objects deleted that were recorded
 * long enough ago, and only when they are few (ADR 26).
 *
 * `orphans`: objects without a live row that are older than the minimum age. Of those, `removed` were
 * deleted, `refused` are those that S3 did not delete, and `held` those that are too many to be deleted
 * without `--allow-mass-deletion`. `foreign`: keys that belong to neither a paste nor a job; they are left
 * alone. `missing`: pastes and assets of jobs without an object; they are only reported. `aborted`: abandoned
 * multipart uploads of jobs.
 */
export function createReconcile(options: Needed): Sweep<'reconcile'> {
  const zero = { listed: 0, orphans: 0, removed: 0, refused: 0, held: 0, foreign: 0, missing: 0, aborted: 0 };
  return defineSweep('reconcile', zero, async (counts, signal, refused) => {
    const refusing = { ...options, refused };
    const before = await databaseTime(options.db);
    const range = { before, oldEnough: new Date(before.getTime() - options.reconcileMinAgeSeconds * 1000) };
    await reconcilePastes(refusing, range, counts, signal);
    await reconcileJobs(refusing, range, counts, signal);
    if (!signal.aborted) await deleteOrphans(options, before, counts, signal);
  });
}

/** A run may delete this many objects, or this share of the listed ones, whichever is more. */
const MAX_OBJECTS = 100;
const MAX_SHARE = 0.01;

/**
 * Deletes the recorded objects whose grace period has passed, after a complete pass that began at `seenAt`.
 * All of them are counted before the first is deleted: too many are a sign of a wrong bucket or a restored
 * database, and then none is deleted.
 */
async function deleteOrphans(
  { db, store, orphanGraceSeconds, allowMassDeletion, logger }: Needed,
  seenAt: Date,
  counts: Record<'removed' | 'refused' | 'held', number> & { readonly listed: number },
  signal: AbortSignal,
): Promise<void> {
  await forgetUnseenOrphans(db, seenAt);
  const due = { seenAt, graceSeconds: orphanGraceSeconds };
  const count = await countDueOrphans(db, due);
  const { listed } = counts;
  if (count > Math.max(MAX_OBJECTS, Math.floor(listed * MAX_SHARE)) && !allowMassDeletion) {
    const keys = await findDueOrphans(db, { ...due, after: '', limit: MAX_NAMED });
    logger.error('mass deletion held; nothing deleted', { count, listed, keys });
    counts.held = count;
    return;
  }
  let after = '';
  await inBatches({ limit: DELETION_BATCH_SIZE, signal }, async (limit) => {
    const keys = await findDueOrphans(db, { ...due, after, limit });
    // A paste or an asset may have been restored since the listing
    const live = await findLiveObjects(db, keys);
    const orphans = keys.filter((key) => !live.has(key));
    const refused = await deleteObjects(store, orphans);
    const removed = orphans.filter((key) => !refused.has(key));
    await forgetOrphans(db, removed);
    counts.removed += removed.length;
    counts.refused += refused.size;
    if (orphans.length > 0) {
      const named = orphans.slice(0, MAX_NAMED);
      logger.warn('objects without a live row deleted', {
        count: removed.length,
        refused: refused.size,
        keys: named,
      });
    }
    after = keys.at(-1) ?? after;
    return keys.length;
  });
}

/**
 * Compares the objects under `jobs/` with the tables. Of jobs that have ended or have no row, it records old
 * objects that belong to no asset, and aborts old multipart uploads. A worker leaves such objects when it is
 * killed between object and asset, or when it writes after its job was removed. Objects of an open job are
 * left alone: a very long export may still be writing them. Assets without an object are reported.
 */
async function reconcileJobs(
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

/** What a run compares with. */
type Compared = Pick<JanitorContext, 'db' | 'store' | 'logger' | 'jobRetentionSeconds'> & {
  readonly refused: RefusedRows;
};

interface ReconcileRange {
  /** The start of the run: rows that got their object later may not be in the listing. */
  readonly before: Date;
  /** Objects and uploads that are younger are left alone. */
  readonly oldEnough: Date;
}

/** Rows for each statement. */
const BATCH = 1000;

/**
 * Compares the objects under `pastes/` with the pastes: records objects without a live row, and reports
 * pastes without an object. S3 lists keys in byte order, and the statement returns short codes in the same
 * order (COLLATE "C"), so the two are merged page by page, in constant memory.
 */
async function reconcilePastes(
  options: Compared,
  { before, oldEnough }: ReconcileRange,
  counts: Record<'listed' | 'orphans' | 'foreign' | 'missing', number>,
  signal: AbortSignal,
): Promise<void> {
  const { db, store, logger } = options;
  const missing = new Findings();
  const foreign = new Findings();
  let after = '';
  const storedUpTo = (upTo: string | null) =>
    storedAfter(after, signal, (last, limit) => findStored(db, { after: last, upTo, before, limit }));
  for await (const page of store.list(OBJECT_KEY_PREFIX)) {
    if (signal.aborted) break;
    const codes = new Set(page.map(({ key }) => shortCodeOfKey(key)).filter((code) => code !== null));
    const pasteObjects = page.filter(({ key }) => shortCodeOfKey(key) !== null);
    foreign.add(page.map(({ key }) => key).filter((key) => shortCodeOfKey(key) === null));
    counts.listed += page.length;
    counts.orphans += await recordOrphansOf(options, pasteObjects, { before, oldEnough });
    const upTo = lastInOrder(codes, after);
    for await (const stored of storedUpTo(upTo)) missing.add(stored.filter((code) => !codes.has(code)));
    after = upTo;
  }
  for await (const stored of storedUpTo(null)) missing.add(stored);
  counts.missing += missing.count;
  counts.foreign += foreign.count;
  if (missing.count > 0)
    logger.error('pastes without an object', { count: missing.count, short_codes: missing.named });
  if (foreign.count > 0)
    logger.warn('objects that belong to no paste left alone', { count: foreign.count, keys: foreign.named });
}

/** Records those objects of a page that are old enough and have no live row. @returns how many */
async function recordOrphansOf(
  { db, refused }: Pick<Compared, 'db' | 'refused'>,
  page: readonly ListedObject[],
  { before, oldEnough }: ReconcileRange,
): Promise<number> {
  const old = page.filter(({ lastModified }) => lastModified <= oldEnough);
  const live = await findLiveObjects(
    db,
    old.map(({ key }) => key),
  );
  const orphans = old.filter(({ key }) => !live.has(key));
  await inHalves(
    orphans,
    (part) => recordOrphans(db, part, before),
    ({ key }, error) => refused.of('orphan_objects')(key, error),
  );
  return orphans.length;
}

/**
 * Yields the names that `find` returns in order, in batches, until the signal is aborted.
 * @param find a batch of the names after `after`; one smaller than `limit` is the last
 */
async function* storedAfter(
  start: string,
  signal: AbortSignal,
  find: (after: string, limit: number) => Promise<readonly string[]>,
) {
  let after = start;
  while (!signal.aborted) {
    const stored = await find(after, BATCH);
    yield stored;
    after = stored.at(-1) ?? after;
    if (stored.length < BATCH) break;
  }
}

/**
 * In any order but that of the table, objects would wrongly be reported as missing.
 * @throws when the codes don't ascend from `after` on
 */
function lastInOrder(codes: Iterable<string>, after: string): string {
  let last = after;
  for (const code of codes) {
    if (code <= last) throw new Error(`S3 does not list keys in byte order: ${code} came after ${last}`);
    last = code;
  }
  return last;
}
