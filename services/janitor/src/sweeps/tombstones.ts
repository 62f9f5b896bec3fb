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
  type Portioned,
} from '@pasteflow/postgres';
import { inPortionedBatches } from './running/batches.ts';
import { defineSweep, type Sweep } from './running/sweep.ts';
import type { JanitorContext } from './context.ts';

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
    const remove = async (table: string, count: keyof typeof zero, statement: Portioned<number>) =>
      await inPortionedBatches({ db, limit: BATCH, signal, refused, table }, statement, (removed) => {
        counts[count] += removed;
        return removed;
      });
    await remove('pastes', 'removed', {
      search: (portion: Portion) => searchTombstones({ retentionSeconds, ...portion }),
      run: (portion: Portion) => removeTombstones(db, { retentionSeconds, ...portion }),
    });
    await remove('paste_reports', 'reports', {
      search: (portion: Portion) => searchJudgedReports({ retentionSeconds, ...portion }),
      run: (portion: Portion) => removeJudgedReports(db, { retentionSeconds, ...portion }),
    });
    await remove('secret_requests', 'requests', {
      search: (portion: Portion) => searchOldRequests({ retentionSeconds, ...portion }),
      run: (portion: Portion) => removeOldRequests(db, { retentionSeconds, ...portion }),
    });
    await remove('invitations', 'invitations', {
      search: (portion: Portion) => searchOldInvitations({ retentionSeconds, ...portion }),
      run: (portion: Portion) => removeOldInvitations(db, { retentionSeconds, ...portion }),
    });
    const ended = { retentionSeconds: jobRetentionSeconds };
    await remove('webhook_deliveries', 'deliveries', {
      search: (portion: Portion) => searchOldDeliveries({ ...ended, ...portion }),
      run: (portion: Portion) => removeOldDeliveries(db, { ...ended, ...portion }),
    });
  });
}
