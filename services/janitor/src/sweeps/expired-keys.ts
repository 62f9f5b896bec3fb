import { removeEndedRateLimits, removeOldIdempotencyKeys, type Database } from '@pasteflow/postgres';
import { removeInBatches } from '../sweeping/remove-in-batches.ts';
import type { Sweep, SweepCounts } from '../sweeping/sweep.ts';

export interface ExpiredKeysOptions {
  readonly db: Database;
  readonly idempotencyRetentionSeconds: number;
}

const BATCH = 1000;

/**
 * Removes idempotency keys past their retention, and rate-limit counters whose window ended long ago. The api ignores all of them: it treats an old key as a new one, and restarts a counter whose window has ended.
 */
export class ExpiredKeys implements Sweep {
  readonly name = 'expired-keys';
  readonly #options: ExpiredKeysOptions;

  constructor(options: ExpiredKeysOptions) {
    this.#options = options;
  }

  async runOnce(signal: AbortSignal): Promise<SweepCounts> {
    const { db, idempotencyRetentionSeconds } = this.#options;
    const batches = { limit: BATCH, signal };
    return {
      keys: await removeInBatches(batches, (limit) =>
        removeOldIdempotencyKeys(db, { retentionSeconds: idempotencyRetentionSeconds, limit }),
      ),
      counters: await removeInBatches(batches, (limit) => removeEndedRateLimits(db, { limit })),
    };
  }
}
