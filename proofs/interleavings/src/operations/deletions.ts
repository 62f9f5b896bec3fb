import { randomBytes } from 'node:crypto';
import {
  claimExpired,
  claimOldFailed,
  releaseClaims,
  removeFailed,
  removeTombstones,
  resetStuckDeletions,
  revealPaste,
  settleDeleted,
  takeOverBurned,
  type ClaimedDeletion,
} from '@pasteflow/postgres';
import { findLive } from '@pasteflow/postgres/interleavings';
import { operation, statement } from '../harness/operation.ts';

const nothing = { touches: [] } as const;
const paste = { touches: ['paste'] } as const;
const unlockedPaste = { touches: ['paste'], skips: ['paste'] } as const;
const failed = { touches: ['paste', 'execution', 'payload'], skips: ['paste'] } as const;
const removed = { touches: ['paste', 'execution'], skips: ['paste'] } as const;

const BATCH = 10;

/** The whole cleanup: claim, delete the objects, settle. */
export const cleanup = operation(
  'cleanup',
  unlockedPaste,
  (): { claims: readonly ClaimedDeletion[] } => ({ claims: [] }),
  [
    {
      statement: async (db, _world, actor, state) => {
        state.claims = await claimExpired(db, { actor, limit: BATCH });
        return { changed: state.claims.length > 0 };
      },
    },
    { request: ({ objects }, { claims }) => claims.forEach(({ shortCode }) => objects.delete(shortCode)) },
    {
      statement: async (db, _world, actor, { claims }) => ({
        changed: (await settleDeleted(db, claims, actor)) > 0,
      }),
    },
  ],
);

/** A cleanup whose objects S3 refuses to delete. */
export const refusedCleanup = operation(
  'refused cleanup',
  unlockedPaste,
  (): { claims: readonly ClaimedDeletion[] } => ({ claims: [] }),
  [
    {
      statement: async (db, _world, actor, state) => {
        state.claims = await claimExpired(db, { actor, limit: BATCH });
        return { changed: state.claims.length > 0 };
      },
    },
    {
      statement: async (db, _world, actor, { claims }) => ({
        changed: (await releaseClaims(db, claims, { actor, reason: 'S3 answered 500' })) > 0,
      }),
    },
  ],
);

/** The cleanup that made the claim of the scenario goes on: its objects are deleted. */
export const settleClaimed = operation('settle deletion', paste, () => null, [
  { request: ({ objects, shortCode }) => void objects.delete(shortCode) },
  {
    statement: async (db, { deletion }, actor) => ({
      changed: (await settleDeleted(db, deletion === null ? [] : [deletion], actor)) > 0,
    }),
  },
]);

/** The cleanup that made the claim of the scenario gives it up. */
export const releaseClaimed = statement('release deletion', paste, async (db, { deletion }, actor) => {
  const claims = deletion === null ? [] : [deletion];
  return { changed: (await releaseClaims(db, claims, { actor, reason: 'S3 answered 500' })) > 0 };
});

export const watchdog = statement('watchdog', unlockedPaste, async (db, _world, actor) => ({
  changed: (await resetStuckDeletions(db, { actor, stuckAfterSeconds: 7200, limit: BATCH })) > 0,
}));

export const removeOldTombstones = statement('remove tombstones', removed, async (db) => {
  await removeTombstones(db, { retentionSeconds: 3600, limit: BATCH });
  return undefined;
});

export const removeOldFailed = operation(
  'remove failed pastes',
  failed,
  (): { codes: readonly string[]; ids: readonly string[] } => ({ codes: [], ids: [] }),
  [
    {
      // Deletes the payloads.
      statement: async (db, _world, _actor, state) => {
        const old = await claimOldFailed(db, { retentionSeconds: 3600, after: null, limit: BATCH });
        state.codes = old.map(({ shortCode }) => shortCode);
        state.ids = old.map(({ id }) => id);
        return undefined;
      },
    },
    { request: ({ objects }, { codes }) => codes.forEach((code) => objects.delete(code)) },
    {
      statement: async (db, _world, _actor, { ids }) => {
        await removeFailed(db, ids);
        return undefined;
      },
    },
  ],
);

/** Lists the bucket, reads which objects have a live row, and deletes the others. */
export const reconcile = operation(
  'reconcile',
  nothing,
  (): { listed: readonly string[]; live: ReadonlySet<string> } => ({ listed: [], live: new Set() }),
  [
    {
      request: ({ objects }, state) => {
        state.listed = [...objects];
      },
    },
    {
      read: async (db, _world, state) => {
        state.live = await findLive(db, state.listed);
        return true;
      },
    },
    {
      request: ({ objects }, { listed, live }) =>
        listed.filter((code) => !live.has(code)).forEach((code) => objects.delete(code)),
    },
  ],
);

/** A reader of a paste that is deleted when it is read. */
export const reveal = statement('reveal', paste, async (db, { pasteId }, actor) => ({
  changed: await revealPaste(db, pasteId, { readerKeyHash: randomBytes(32), actor }),
}));

/** The cleanup of a paste that was revealed five minutes ago. */
export const cleanupBurned = operation(
  'cleanup of a revealed paste',
  unlockedPaste,
  (): { claims: readonly ClaimedDeletion[] } => ({ claims: [] }),
  [
    {
      statement: async (db, _world, _actor, state) => {
        state.claims = await takeOverBurned(db, { afterSeconds: 300, limit: BATCH });
        return undefined;
      },
    },
    { request: ({ objects }, { claims }) => claims.forEach(({ shortCode }) => objects.delete(shortCode)) },
    {
      statement: async (db, _world, actor, { claims }) => ({
        changed: (await settleDeleted(db, claims, actor)) > 0,
      }),
    },
  ],
);
