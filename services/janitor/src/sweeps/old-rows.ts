import {
  dropOldTransitions,
  ensureTransitionPartitions,
  removeJudgedReports,
  removeOldDeliveries,
  removeOldInvitations,
  removeOldRequests,
  removeTombstones,
  searchJudgedReports,
  searchOldDeliveries,
  searchOldInvitations,
  searchOldRequests,
  searchTombstones,
  type Portion,
  type Aged,
  type Database,
  type Portioned,
  claimOldFailed,
  inHalves,
  removeFailed,
  searchOldFailed,
  type OldFailed,
  removeEndedRateLimits,
  removeOldIdempotencyKeys,
  searchEndedRateLimits,
  searchOldIdempotencyKeys,
} from '@pasteflow/postgres';
import { DELETION_BATCH_SIZE, objectKeyOf } from '@pasteflow/domain';
import { inPortionedBatches } from './running/batches.ts';
import { defineSweep, type Sweep } from './running/sweep.ts';
import type { JanitorContext } from './context.ts';
import { deleteObjects } from './delete-objects.ts';

const BATCH = 1000;

/** Only after two months without a janitor do transitions go into the default partition. */
const MONTHS_AHEAD = 2;

/**
 * Removes tombstones (DELETED rows), judged reports, requests for secrets, invitations, deliveries of webhooks and
 * transitions after their retention, and makes the partitions of the coming months. Transitions are removed a month at a time, by
 * dropping their partition.
 */
export function createTombstones({
  db,
  tombstoneRetentionSeconds: retentionSeconds,
  jobRetentionSeconds,
  transitionRetentionSeconds,
}: Pick<
  JanitorContext,
  'db' | 'tombstoneRetentionSeconds' | 'jobRetentionSeconds' | 'transitionRetentionSeconds'
>): Sweep<'tombstones'> {
  const zero = {
    removed: 0,
    reports: 0,
    requests: 0,
    invitations: 0,
    deliveries: 0,
    partitions_made: 0,
    partitions_dropped: 0,
  };
  return defineSweep('tombstones', zero, async (counts, signal, refused) => {
    counts.partitions_made = await ensureTransitionPartitions(db, MONTHS_AHEAD);
    counts.partitions_dropped = (await dropOldTransitions(db, transitionRetentionSeconds)).length;
    const remove = async (
      table: string,
      count: keyof typeof zero,
      search: (old: Aged) => ReturnType<Portioned<number>['search']>,
      run: (db: Database, old: Aged) => Promise<number>,
      seconds = retentionSeconds,
    ): Promise<void> => {
      const statement: Portioned<number> = {
        search: (portion) => search({ retentionSeconds: seconds, ...portion }),
        run: (portion) => run(db, { retentionSeconds: seconds, ...portion }),
      };
      await inPortionedBatches({ db, limit: BATCH, signal, refused, table }, statement, (removed) => {
        counts[count] += removed;
        return removed;
      });
    };
    await remove('pastes', 'removed', searchTombstones, removeTombstones);
    await remove('paste_reports', 'reports', searchJudgedReports, removeJudgedReports);
    await remove('secret_requests', 'requests', searchOldRequests, removeOldRequests);
    await remove('invitations', 'invitations', searchOldInvitations, removeOldInvitations);
    await remove(
      'webhook_deliveries',
      'deliveries',
      searchOldDeliveries,
      removeOldDeliveries,
      jobRetentionSeconds,
    );
  });
}

/**
 * Removes old FAILED pastes. First the payload goes, which rules out a retry. The object is deleted before
 * the row: one of the six failed puts may have stored the object and lost its answer, and without the row no
 * process would know of the object. When S3 refuses to delete the object, the row stays for the next run.
 */
export function createFailedPastes({
  db,
  store,
  logger,
  failedRetentionSeconds: retentionSeconds,
}: Pick<JanitorContext, 'db' | 'store' | 'logger' | 'failedRetentionSeconds'>): Sweep<'failed-pastes'> {
  return defineSweep('failed-pastes', { removed: 0, refused: 0 }, async (counts, signal, refusedRows) => {
    let after: OldFailed | null = null;
    const batches = { db, table: 'pastes', limit: DELETION_BATCH_SIZE, signal, refused: refusedRows };
    const old = {
      search: (portion: Portion) => searchOldFailed({ retentionSeconds, after, ...portion }),
      run: (portion: Portion) => claimOldFailed(db, { retentionSeconds, after, ...portion }),
    };
    await inPortionedBatches(batches, old, async (failed) => {
      const refused = await deleteObjects(
        store,
        failed.map(({ shortCode }) => objectKeyOf(shortCode)),
      );
      if (refused.size > 0) {
        const [reason] = refused.values();
        logger.warn('objects of failed pastes not deleted', { count: refused.size, reason });
      }
      counts.refused += refused.size;
      const deleted = failed.filter(({ shortCode }) => !refused.has(objectKeyOf(shortCode)));
      const ids = deleted.map(({ id }) => id);
      const removed = await inHalves(ids, (part) => removeFailed(db, part), refusedRows.of('pastes'));
      for (const count of removed) counts.removed += count;
      after = failed.at(-1) ?? after;
      return failed.length;
    });
  });
}

/**
 * Removes idempotency keys past their retention, and rate-limit counters whose window ended long ago. The api
 * ignores all of them: it treats an old key as a new one, and restarts a counter whose window has ended.
 */
export function createExpiredKeys({
  db,
  idempotencyRetentionSeconds: retentionSeconds,
}: Pick<JanitorContext, 'db' | 'idempotencyRetentionSeconds'>): Sweep<'expired-keys'> {
  return defineSweep('expired-keys', { keys: 0, counters: 0 }, async (counts, signal, refused) => {
    const batches = { db, limit: BATCH, signal, refused };
    const keys = {
      search: (portion: Portion) => searchOldIdempotencyKeys({ retentionSeconds, ...portion }),
      run: (portion: Portion) => removeOldIdempotencyKeys(db, { retentionSeconds, ...portion }),
    };
    await inPortionedBatches({ ...batches, table: 'idempotency_keys' }, keys, (removed) => {
      counts.keys += removed;
      return removed;
    });
    const counters = {
      search: searchEndedRateLimits,
      run: (portion: Portion) => removeEndedRateLimits(db, portion),
    };
    await inPortionedBatches({ ...batches, table: 'rate_limits' }, counters, (removed) => {
      counts.counters += removed;
      return removed;
    });
  });
}
