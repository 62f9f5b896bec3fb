import { DELETION_BATCH_SIZE } from '@pasteflow/domain';
import {
  countDueOrphans,
  findDueOrphans,
  findLiveObjects,
  forgetOrphans,
  forgetUnseenOrphans,
  type Database,
} from '@pasteflow/postgres';
import type { Logger } from '@pasteflow/runtime';
import type { ObjectStore } from '@pasteflow/s3';
import { inBatches } from '../running/batches.ts';
import { MAX_NAMED } from '../running/findings.ts';
import { deleteObjects } from '../delete-objects.ts';

export interface DeleteOrphansOptions {
  readonly db: Database;
  readonly store: ObjectStore;
  readonly orphanGraceSeconds: number;
  readonly allowMassDeletion: boolean;
  readonly logger: Logger;
}

/** A run may delete this many objects, or this share of the listed ones, whichever is more. */
const MAX_OBJECTS = 100;
const MAX_SHARE = 0.01;

/**
 * Deletes the recorded objects whose grace period has passed, after a complete pass that began at `seenAt`.
 * All of them are counted before the first is deleted: too many are a sign of a wrong bucket or a restored
 * database, and then none is deleted.
 */
export async function deleteOrphans(
  { db, store, orphanGraceSeconds, allowMassDeletion, logger }: DeleteOrphansOptions,
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
