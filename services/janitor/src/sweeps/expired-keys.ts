import { removeEndedRateLimits, removeOldIdempotencyKeys, type Database } from '@pasteflow/postgres';
import { inBatches } from '../sweep-runner/batches.ts';
import { defineSweep, type Sweep } from '../sweep-runner/sweep.ts';

export interface ExpiredKeysOptions {
  readonly db: Database;
  readonly idempotencyRetentionSeconds: number;
}

const BATCH = 1000;

/**
 * Removes idempotency keys past their retention, and rate-limit counters whose window ended long ago. The api
 * ignores all of them: it treats an old key as a new one, and restarts a counter whose window has ended.
 */
export function createExpiredKeys({
  db,
  idempotencyRetentionSeconds: retentionSeconds,
}: ExpiredKeysOptions): Sweep<'expired-keys'> {
  return defineSweep('expired-keys', { keys: 0, counters: 0 }, async (counts, signal) => {
    const batches = { limit: BATCH, signal };
    await inBatches(batches, async (limit) => {
      const removed = await removeOldIdempotencyKeys(db, { retentionSeconds, limit });
      counts.keys += removed;
      return removed;
    });
    await inBatches(batches, async (limit) => {
      const removed = await removeEndedRateLimits(db, { limit });
      counts.counters += removed;
      return removed;
    });
  });
}
