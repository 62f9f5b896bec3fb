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
import { MAX_NAMED } from '../../sweeping/findings.ts';
import { isMassDeletion } from '../../sweeping/mass-deletion.ts';

export interface DeleteOrphansOptions {
  readonly db: Database;
  readonly store: ObjectStore;
  readonly orphanGraceSeconds: number;
  readonly allowMassDeletion: boolean;
  readonly logger: Logger;
}

export interface CompletePass {
  /** Its start. */
  readonly seenAt: Date;
  /** The number of objects that it listed. */
  readonly listed: number;
}

/**
 * Deletes the recorded objects whose grace period has passed, after a complete pass. All of them are counted before the first is deleted:
 * too many are a sign of a wrong bucket or a restored database, and then none is deleted.
 */
export async function deleteOrphans(
  { db, store, orphanGraceSeconds, allowMassDeletion, logger }: DeleteOrphansOptions,
  { seenAt, listed }: CompletePass,
  signal: AbortSignal,
): Promise<{ removed: number; refused: number; held: number }> {
  await forgetUnseenOrphans(db, seenAt);
  const due = { seenAt, graceSeconds: orphanGraceSeconds };
  const count = await countDueOrphans(db, due);
  if (isMassDeletion(count, listed) && !allowMassDeletion) {
    const keys = await findDueOrphans(db, { ...due, after: '', limit: MAX_NAMED });
    logger.error('mass deletion held; nothing deleted', { count, listed, keys });
    return { removed: 0, refused: 0, held: count };
  }
  const counts = { removed: 0, refused: 0, held: 0 };
  let after = '';
  while (!signal.aborted) {
    const keys = await findDueOrphans(db, { ...due, after, limit: DELETION_BATCH_SIZE });
    const live = await findLiveObjects(db, keys); // a paste or an asset may have been restored since the listing
    const orphans = keys.filter((key) => !live.has(key));
    const refused = await refusedOf(store, orphans);
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
    if (keys.length < DELETION_BATCH_SIZE) break;
  }
  return counts;
}

/** Deletes the objects. An error about a key that was not in the call could be about any of them, and all count as refused. */
async function refusedOf(store: ObjectStore, keys: readonly string[]): Promise<ReadonlySet<string>> {
  const refused = new Set((await store.deleteMany(keys)).map(({ key }) => key));
  const asked = new Set(keys);
  return [...refused].every((key) => asked.has(key)) ? refused : asked;
}
