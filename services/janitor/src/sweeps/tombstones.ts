import {
  dropOldTransitions,
  ensureTransitionPartitions,
  removeJudgedReports,
  removeOldRequests,
  removeTombstones,
  searchJudgedReports,
  searchOldRequests,
  searchTombstones,
  type Portion,
} from '@pasteflow/postgres';
import { inPortionedBatches } from './running/batches.ts';
import { defineSweep, type Sweep } from './running/sweep.ts';
import type { JanitorContext } from './context.ts';

const BATCH = 1000;

/** Only after two months without a janitor do transitions go into the default partition. */
const MONTHS_AHEAD = 2;

/**
 * Removes tombstones (DELETED rows), judged reports, requests for secrets and transitions after their retention, and makes the partitions of the
 * coming months. Transitions are removed a month at a time, by dropping their partition.
 */
export function createTombstones({
  db,
  tombstoneRetentionSeconds,
  transitionRetentionSeconds,
}: Pick<
  JanitorContext,
  'db' | 'tombstoneRetentionSeconds' | 'transitionRetentionSeconds'
>): Sweep<'tombstones'> {
  const zero = { removed: 0, reports: 0, requests: 0, partitions_made: 0, partitions_dropped: 0 };
  return defineSweep('tombstones', zero, async (counts, signal, refused) => {
    counts.partitions_made = await ensureTransitionPartitions(db, MONTHS_AHEAD);
    counts.partitions_dropped = (await dropOldTransitions(db, transitionRetentionSeconds)).length;
    const [batches, retentionSeconds] = [{ db, limit: BATCH, signal, refused }, tombstoneRetentionSeconds];
    const tombstones = {
      search: (portion: Portion) => searchTombstones({ retentionSeconds, ...portion }),
      run: (portion: Portion) => removeTombstones(db, { retentionSeconds, ...portion }),
    };
    await inPortionedBatches({ ...batches, table: 'pastes' }, tombstones, (removed) => {
      counts.removed += removed;
      return removed;
    });
    const reports = {
      search: (portion: Portion) => searchJudgedReports({ retentionSeconds, ...portion }),
      run: (portion: Portion) => removeJudgedReports(db, { retentionSeconds, ...portion }),
    };
    await inPortionedBatches({ ...batches, table: 'paste_reports' }, reports, (removed) => {
      counts.reports += removed;
      return removed;
    });
    const requests = {
      search: (portion: Portion) => searchOldRequests({ retentionSeconds, ...portion }),
      run: (portion: Portion) => removeOldRequests(db, { retentionSeconds, ...portion }),
    };
    await inPortionedBatches({ ...batches, table: 'secret_requests' }, requests, (removed) => {
      counts.requests += removed;
      return removed;
    });
  });
}
