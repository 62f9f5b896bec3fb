import { describe, expect, it } from '@jest/globals';
import { pasteDeletion, pasteUpload } from '@pasteflow/domain';
import { sql } from 'kysely';
import {
  claimExpired,
  expirePaste,
  findPaste,
  releaseClaims,
  resetStuckDeletions,
  settleDeleted,
} from '../../src/index.ts';
import { lockRow, makePastes } from '../../src/testing/index.ts';
import { newPaste, useDatabase } from '../support/database.ts';
import { insertInState } from '../support/state-rows.ts';

const current = useDatabase();
const actor = 'janitor/test';

async function expired(count: number): Promise<void> {
  for (let n = 0; n < count; n++) await insertInState(current.db, pasteUpload, 'PROCESSED');
  await sql`UPDATE pastes SET expires_at = now() - interval '1 minute'`.execute(current.db);
}

describe('deleting a paste for a user', () => {
  it('has effect once, also when the second deletion began before the first', async () => {
    const { id } = await newPaste(current.db);
    const second = await current.db.startTransaction().execute();
    await sql`SELECT`.execute(second);
    const results = [await expirePaste(current.db, id), await expirePaste(second, id)];
    await second.commit().execute();
    expect(results).toEqual([true, false]);
  });
});

describe('claiming expired pastes', () => {
  it('gives each paste to exactly one of ten janitors', async () => {
    await expired(200);
    const claims = await Promise.all(
      Array.from({ length: 10 }, () => claimExpired(current.db, { actor, limit: 30 })),
    );
    const rest = await claimExpired(current.db, { actor, limit: 1000 });
    const ids = [...claims.flat(), ...rest].map(({ id }) => id);
    expect(claims.every((claim) => claim.length <= 30)).toBe(true);
    expect(ids).toHaveLength(200);
    expect(new Set(ids).size).toBe(200);
  });

  it('skips pastes that have not settled, have not expired, or never expire', async () => {
    const { id } = await newPaste(current.db);
    expect(await expirePaste(current.db, id)).toBe(true);
    expect(await expirePaste(current.db, id)).toBe(false);
    await insertInState(current.db, pasteUpload, 'PROCESSED');
    await makePastes(current.db, 1, { status: 'PROCESSED', expiresInSeconds: 3600 });
    expect(await claimExpired(current.db, { actor, limit: 1000 })).toEqual([]);
  });

  it('skips pastes that another session has locked, and does not wait for them', async () => {
    const pastes = await makePastes(current.db, 2, { status: 'PROCESSED', expiresInSeconds: -1 });
    const release = await lockRow(current.db, 'pastes', pastes[0]!.id);
    try {
      const claimed = await claimExpired(current.db, { actor, limit: 1000 });
      expect(claimed.map(({ id }) => id)).toEqual([pastes[1]!.id]);
    } finally {
      await release();
    }
  });
});

describe('a claim', () => {
  it('that was reset and made again by another janitor cannot be settled or released by the first one', async () => {
    await expired(1);
    const first = await claimExpired(current.db, { actor, limit: 1 });
    await sql`UPDATE pastes SET deletion_initiated_at = now() - interval '3 hours'`.execute(current.db);
    expect(await resetStuckDeletions(current.db, { actor, stuckAfterSeconds: 7200, limit: 10 })).toBe(1);
    const second = await claimExpired(current.db, { actor, limit: 1 });
    expect(await settleDeleted(current.db, first, actor)).toBe(0);
    expect(await releaseClaims(current.db, first, { actor, reason: 'test' })).toBe(0);
    expect(await settleDeleted(current.db, second, actor)).toBe(1);
    expect(await findPaste(current.db, first[0]!.shortCode)).toMatchObject({
      deletion_status: 'DELETED',
      title: null,
    });
    expect(await settleDeleted(current.db, second, actor)).toBe(0);
  });

  it('that was released can be made again', async () => {
    await expired(1);
    const claims = await claimExpired(current.db, { actor, limit: 1 });
    expect(await releaseClaims(current.db, claims, { actor, reason: 'S3 refused' })).toBe(1);
    expect(await claimExpired(current.db, { actor, limit: 1 })).toHaveLength(1);
    const { rows } = await sql`SELECT "from", "to", actor, reason FROM state_transitions
      WHERE machine = 'paste_deletion' ORDER BY id`.execute(current.db);
    expect(rows).toEqual([
      { from: 'NOT_EXPIRED', to: 'DELETION_IN_PROGRESS', actor, reason: 'expired' },
      { from: 'DELETION_IN_PROGRESS', to: 'NOT_EXPIRED', actor, reason: 'S3 refused' },
      { from: 'NOT_EXPIRED', to: 'DELETION_IN_PROGRESS', actor, reason: 'expired' },
    ]);
  });
});

describe('the watchdog', () => {
  it('resets claims older than two hours, and no younger or settled ones', async () => {
    const { id: old } = await insertInState(current.db, pasteDeletion, 'DELETION_IN_PROGRESS');
    const { id: young } = await insertInState(current.db, pasteDeletion, 'DELETION_IN_PROGRESS');
    const { id: done } = await insertInState(current.db, pasteDeletion, 'DELETED');
    await sql`UPDATE pastes SET deletion_initiated_at = now() - interval '7201 seconds'
      WHERE id IN (${old}, ${done})`.execute(current.db);
    await sql`UPDATE pastes SET deletion_initiated_at = now() - interval '7190 seconds' WHERE id = ${young}`.execute(
      current.db,
    );
    expect(await resetStuckDeletions(current.db, { actor, stuckAfterSeconds: 7200, limit: 10 })).toBe(1);
    const { rows } = await sql<{
      id: string;
    }>`SELECT id FROM pastes WHERE deletion_status = 'NOT_EXPIRED'`.execute(current.db);
    expect(rows).toEqual([{ id: old }]);
  });
});
