import { DELETION_BATCH_SIZE, objectKeyOf, REVEAL_MINUTES } from '@pasteflow/domain';
import {
  claimExpired,
  inHalves,
  releaseClaims,
  searchBurned,
  searchExpired,
  settleDeleted,
  takeOverBurned,
  type ClaimedDeletion,
  type Portion,
  resetStuckDeletions,
  searchStuckDeletions,
} from '@pasteflow/postgres';
import { deleteObjects } from './delete-objects.ts';
import { inPortionedBatches } from './running/batches.ts';
import type { RefusedRows } from './running/refused-rows.ts';
import { defineSweep, type Sweep } from './running/sweep.ts';
import type { JanitorContext } from './context.ts';

type Needed = Pick<JanitorContext, 'db' | 'store' | 'actor' | 'logger'>;

interface RefusedClaim {
  readonly claim: ClaimedDeletion;
  readonly reason: string;
}

/** The last repeat of a reveal gets a minute to read the object. */
const BURNED_AFTER_SECONDS = (REVEAL_MINUTES + 1) * 60;

/**
 * Refused claims are kept until the end of the run. With more than this, S3 refuses nearly everything, and
 * the run ends.
 */
const MAX_REFUSED = 10 * DELETION_BATCH_SIZE;

/**
 * Deletes expired pastes, and those that a reveal has claimed. Each batch is claimed, its objects are deleted
 * in one call, and then the batch is settled. When the process is killed before the settlement, the deletion
 * watchdog releases the claims.
 *
 * `lost` counts claims that the watchdog released while their objects were being deleted, and those whose row
 * Postgres refused. A later cleanup repeats their deletion.
 */
export function createCleanup(options: Needed): Sweep<'cleanup'> {
  const { db, store, actor } = options;
  const zero = { claimed: 0, deleted: 0, refused: 0, lost: 0 };
  return defineSweep('cleanup', zero, async (counts, signal, refusedRows) => {
    // While S3 is down, every claim would have to be released, which writes two transitions for each row.
    await store.ping(signal);
    const refused: RefusedClaim[] = [];
    const enough = new AbortController();
    const batches = {
      db,
      table: 'pastes',
      limit: DELETION_BATCH_SIZE,
      signal: AbortSignal.any([signal, enough.signal]),
      refused: refusedRows,
    };
    const deleteAll = async (claims: readonly ClaimedDeletion[]): Promise<number> => {
      const reasons = await deleteObjectsOf(claims, options);
      const done = claims.filter(({ shortCode }) => !reasons.has(objectKeyOf(shortCode)));
      for (const claim of claims) {
        const reason = reasons.get(objectKeyOf(claim.shortCode));
        if (reason !== undefined) refused.push({ claim, reason });
      }
      if (refused.length >= MAX_REFUSED) enough.abort();
      const settled = await inHalves(
        done,
        (part) => settleDeleted(db, part, actor),
        ({ id }, error) => refusedRows.of('pastes')(id, error),
      );
      const deleted = settled.reduce((sum, count) => sum + count, 0);
      counts.claimed += claims.length;
      counts.deleted += deleted;
      counts.lost += done.length - deleted;
      counts.refused += claims.length - done.length;
      return claims.length;
    };
    const afterSeconds = BURNED_AFTER_SECONDS;
    const burned = {
      search: (portion: Portion) => searchBurned({ afterSeconds, ...portion }),
      run: (portion: Portion) => takeOverBurned(db, { afterSeconds, ...portion }),
    };
    const expired = {
      search: searchExpired,
      run: (portion: Portion) => claimExpired(db, { actor, ...portion }),
    };
    try {
      await inPortionedBatches(batches, burned, deleteAll);
      await inPortionedBatches(batches, expired, deleteAll);
    } finally {
      // Not earlier: the oldest rows are claimed first, so released ones would be claimed again before all
      // others, without end.
      await releaseRefused(refused, refusedRows, options);
    }
  });
}

async function deleteObjectsOf(
  claims: readonly ClaimedDeletion[],
  { db, store, actor }: Needed,
): Promise<ReadonlyMap<string, string>> {
  try {
    return await deleteObjects(
      store,
      claims.map(({ shortCode }) => objectKeyOf(shortCode)),
    );
  } catch (error) {
    await releaseClaims(db, claims, { actor, reason: 'the batch could not be deleted from S3' });
    throw error;
  }
}

async function releaseRefused(
  refused: readonly RefusedClaim[],
  refusedRows: RefusedRows,
  { db, actor, logger }: Needed,
): Promise<void> {
  for (const [reason, same] of Map.groupBy(refused, (each) => each.reason)) {
    logger.warn('objects of expired pastes not deleted', { count: same.length, reason });
    await inHalves(
      same.map(({ claim }) => claim),
      (claims) => releaseClaims(db, claims, { actor, reason }),
      ({ id }, error) => refusedRows.of('pastes')(id, error),
    );
  }
}

/** Releases the claims of cleanups that crashed. The next cleanup claims these pastes again. */
export function createDeletionWatchdog({
  db,
  actor,
  deletionStuckAfterSeconds: stuckAfterSeconds,
}: Pick<JanitorContext, 'db' | 'actor' | 'deletionStuckAfterSeconds'>): Sweep<'deletion-watchdog'> {
  return defineSweep('deletion-watchdog', { reset: 0 }, (counts, signal, refused) =>
    inPortionedBatches(
      { db, table: 'pastes', limit: DELETION_BATCH_SIZE, signal, refused },
      {
        search: (portion: Portion) => searchStuckDeletions({ stuckAfterSeconds, ...portion }),
        run: (portion: Portion) => resetStuckDeletions(db, { actor, stuckAfterSeconds, ...portion }),
      },
      (reset) => {
        counts.reset += reset;
        return reset;
      },
    ),
  );
}
