import { DELETION_BATCH_SIZE } from '@pasteflow/domain';
import {
  claimExpired,
  releaseClaims,
  settleDeleted,
  type Actor,
  type ClaimedDeletion,
  type Database,
} from '@pasteflow/postgres';
import type { Logger } from '@pasteflow/runtime';
import type { ObjectStore } from '@pasteflow/s3';
import { deleteObjects } from '../sweeping/delete-objects.ts';
import { keepingCounts } from '../sweeping/keeping-counts.ts';
import type { Sweep, SweepCounts } from '../sweeping/sweep.ts';

export interface CleanupOptions {
  readonly db: Database;
  readonly store: ObjectStore;
  readonly actor: Actor;
  readonly logger: Logger;
}

interface RefusedClaim {
  readonly claim: ClaimedDeletion;
  readonly reason: string;
}

/** Claims held back until the end of a run; with more, S3 refuses nearly everything and the run ends. */
const MAX_REFUSED = 10 * DELETION_BATCH_SIZE;

/** Deletes expired pastes (D3): claims a batch, deletes its objects in one call, settles it. Killed anywhere, the watchdog frees the claims. */
export class Cleanup implements Sweep {
  readonly name = 'cleanup';
  readonly #options: CleanupOptions;

  constructor(options: CleanupOptions) {
    this.#options = options;
  }

  /** `lost`: claims that were no longer ours when their objects were gone; the cleanup that claims them next repeats the deletion. */
  async runOnce(signal: AbortSignal): Promise<SweepCounts> {
    const { db, store, actor } = this.#options;
    return keepingCounts({ claimed: 0, deleted: 0, refused: 0, lost: 0 }, async (counts) => {
      // While S3 is down a claim would only be released again, at two transitions a row.
      await store.ping(signal);
      const refused: RefusedClaim[] = [];
      try {
        while (!signal.aborted && refused.length < MAX_REFUSED) {
          const claims = await claimExpired(db, { actor, limit: DELETION_BATCH_SIZE });
          const reasons = await this.#deleteObjectsOf(claims);
          const done = claims.filter(({ shortCode }) => !reasons.has(shortCode));
          for (const claim of claims) {
            const reason = reasons.get(claim.shortCode);
            if (reason !== undefined) refused.push({ claim, reason });
          }
          const deleted = await settleDeleted(db, done, actor);
          counts.claimed += claims.length;
          counts.deleted += deleted;
          counts.lost += done.length - deleted;
          counts.refused += claims.length - done.length;
          if (claims.length < DELETION_BATCH_SIZE) break;
        }
      } finally {
        // Only now: they expired first and would be claimed again at once, before all others, for ever.
        await this.#releaseRefused(refused);
      }
    });
  }

  async #deleteObjectsOf(claims: readonly ClaimedDeletion[]): Promise<ReadonlyMap<string, string>> {
    const { db, store, actor } = this.#options;
    try {
      return await deleteObjects(
        store,
        claims.map(({ shortCode }) => shortCode),
      );
    } catch (error) {
      await releaseClaims(db, claims, { actor, reason: 'the batch could not be deleted from S3' });
      throw error;
    }
  }

  async #releaseRefused(refused: readonly RefusedClaim[]): Promise<void> {
    const { db, actor, logger } = this.#options;
    for (const [reason, same] of Map.groupBy(refused, (each) => each.reason)) {
      logger.warn('objects of expired pastes were not deleted', { count: same.length, reason });
      await releaseClaims(
        db,
        same.map(({ claim }) => claim),
        { actor, reason },
      );
    }
  }
}
