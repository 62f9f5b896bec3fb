import { removeEndedRateLimits, removeOldIdempotencyKeys, type Database } from '@pasteflow/postgres';
import type { Sweep, SweepCounts } from '../sweeping/sweep.ts';

export interface ExpiredKeysOptions {
  readonly db: Database;
  readonly idempotencyRetentionSeconds: number;
}

const BATCH = 1000;

/**
 * Removes idempotency keys past their retention, and rate-limit counters whose window ended long ago. The api ignores both: it treats an old
 * key as a new one, and restarts a counter whose window has ended.
 */
export class ExpiredKeys implements Sweep {
  readonly name = 'expired-keys';
  readonly #options: ExpiredKeysOptions;

  constructor(options: ExpiredKeysOptions) {
    this.#options = options;
  }

  async runOnce(signal: AbortSignal): Promise<SweepCounts> {
    const { db, idempotencyRetentionSeconds } = this.#options;
    const inBatches = async (remove: () => Promise<number>): Promise<number> => {
      let total = 0;
      while (!signal.aborted) {
        const removed = await remove();
        total += removed;
        if (removed < BATCH) break;
      }
      return total;
    };
    return {
      keys: await inBatches(() =>
        removeOldIdempotencyKeys(db, { retentionSeconds: idempotencyRetentionSeconds, limit: BATCH }),
      ),
      counters: await inBatches(() => removeEndedRateLimits(db, { limit: BATCH })),
    };
  }
}
