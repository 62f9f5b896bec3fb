import {
  removeEndedRateLimits,
  removeOldIdempotencyKeys,
  searchEndedRateLimits,
  searchOldIdempotencyKeys,
  type Portion,
} from '@pasteflow/postgres';
import { inPortionedBatches } from './running/batches.ts';
import { defineSweep, type Sweep } from './running/sweep.ts';
import type { JanitorContext } from './context.ts';

const BATCH = 1000;

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
