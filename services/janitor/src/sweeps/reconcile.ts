import { DELETION_BATCH_SIZE } from '@pasteflow/domain';
import {
  countDueOrphans,
  databaseTime,
  findDueOrphans,
  findLiveObjects,
  forgetOrphans,
  forgetUnseenOrphans,
} from '@pasteflow/postgres';
import { deleteObjects } from './delete-objects.ts';
import { inBatches } from './running/batches.ts';
import { MAX_NAMED } from './running/findings.ts';
import { defineSweep, type Sweep } from './running/sweep.ts';
import { reconcileJobs } from './reconcile/reconcile-jobs.ts';
import { reconcilePastes } from './reconcile/reconcile-pastes.ts';
import type { JanitorContext } from './context.ts';

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
