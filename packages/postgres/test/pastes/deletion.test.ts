import { describe, expect, it } from '@jest/globals';
import { pasteDeletion, pasteUpload } from '@pasteflow/domain';
import { sql } from 'kysely';
import {
  claimExpired,
  requestDeletion,
  findPaste,
  releaseClaims,
  resetStuckDeletions,
  settleDeleted,
  type ClaimedDeletion,
  type Database,
} from '../../src/index.ts';
import { PLANNING } from '../../src/database/planner.ts';
import { lockRow, makePastes } from '../../src/testing/index.ts';
import { newPaste, useDatabase } from '../support/database.ts';
import { untilSomebodyWaits } from '../support/locks.ts';
import { explain } from '../support/explain.ts';
import { insertInState } from '../support/state-rows.ts';
import { byPlainScans } from '../support/plain-scans.ts';

const current = useDatabase();
const actor = 'janitor/test';

async function expired(count: number): Promise<void> {
  for (let n = 0; n < count; n++) await insertInState(current.db, pasteUpload, 'PROCESSED');
  await sql`UPDATE pastes SET expires_at = now() - interval '1 minute', title = 'a title', syntax = 'any word'`.execute(
    current.db,
  );
}

describe('deleting a paste for a user', () => {
  it('has effect once, also when the second deletion began before the first', async () => {
    const { id } = await newPaste(current.db);
    const second = await current.db.startTransaction().execute();
    await sql`SELECT`.execute(second);
    const results = [await requestDeletion(current.db, id), await requestDeletion(second, id)];
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
    expect(await requestDeletion(current.db, id)).toBe(true);
    expect(await requestDeletion(current.db, id)).toBe(false);
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

it('claiming a batch of what is due longest reads no paste whose deletion was asked for later', async () => {
  await makePastes(current.db, 1000, { status: 'PROCESSED', expiresInSeconds: -60 });
  const url = `${current.url}?options=${encodeURIComponent(PLANNING)}`;
  const claim = () => explain(url, (db) => claimExpired(db, { actor, limit: 10 }));
  const before = await claim();
  await makePastes(current.db, 2000, { status: 'IN_PROGRESS' });
  await sql`UPDATE pastes SET deletion_requested_at = now() WHERE status = 'IN_PROGRESS'`.execute(current.db);
  await sql`VACUUM (ANALYZE) pastes`.execute(current.db);
  expect((await claim()).buffers).toBeLessThan(before.buffers + 20);
});

describe('a claim', () => {
  it('is made in the order of expiry, and a paste that is claimed already holds up no others', async () => {
    const [second] = await makePastes(current.db, 1, { status: 'PROCESSED', expiresInSeconds: -60 });
    const [first] = await makePastes(current.db, 1, { status: 'PROCESSED', expiresInSeconds: -120 });
    const claimed = [];
    for (let n = 0; n < 3; n++)
      claimed.push(...(await byPlainScans(current.db, (db) => claimExpired(db, { actor, limit: 1 }))));
    expect(claimed.map(({ id }) => id)).toEqual([first!.id, second!.id]);
  });

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
      syntax: null,
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

describe('the settlement and the release of claims', () => {
  const ends = {
    settlement: (db: Database, claims: readonly ClaimedDeletion[]) => settleDeleted(db, claims, actor),
    release: (db: Database, claims: readonly ClaimedDeletion[]) =>
      releaseClaims(db, claims, { actor, reason: 'S3 refused' }),
  };
  const names = Object.keys(ends) as (keyof typeof ends)[];

  it.each(names)(
    'changes nothing by a %s that waits for a row while its claim is made anew',
    async (name) => {
      await expired(1);
      const claims = await claimExpired(current.db, { actor, limit: 1 });
      const renewing = await current.db.startTransaction().execute();
      await releaseClaims(renewing, claims, { actor, reason: 'reset' });
      await claimExpired(renewing, { actor, limit: 1 });
      const ending = ends[name](current.db, claims);
      await Promise.race([untilSomebodyWaits(current.db), ending]);
      await renewing.commit().execute();
      expect(await ending).toBe(0);
      expect(await findPaste(current.db, claims[0]!.shortCode)).toMatchObject({
        deletion_status: 'DELETION_IN_PROGRESS',
      });
    },
  );

  it.each(names)('locks its pastes by a %s by their ids, the newest first', async (name) => {
    await expired(30);
    const claims = await claimExpired(current.db, { actor, limit: 30 });
    const byId = claims.toSorted((a, b) => (a.id < b.id ? -1 : 1)); // as a scan of the table finds them
    const release = await lockRow(current.db, 'pastes', byId.at(-1)!.id);
    const ending = byPlainScans(current.db, (db) => ends[name](db, byId));
    try {
      await Promise.race([untilSomebodyWaits(current.db), ending]);
      const { rows } = await sql`SELECT FROM pastes FOR UPDATE SKIP LOCKED`.execute(current.db);
      expect(rows).toHaveLength(29); // it waits for the newest, and has locked none of the others
    } finally {
      await release();
      await ending;
    }
  });

  it('deletes the content of a FAILED paste with the paste, and no sooner', async () => {
    await makePastes(current.db, 1, { status: 'FAILED', expiresInSeconds: -1 });
    await sql`INSERT INTO failed_payloads (paste_id, content) SELECT id, 'content' FROM pastes`.execute(
      current.db,
    );
    const kept = async () => (await sql`SELECT FROM failed_payloads`.execute(current.db)).rows.length;
    const first = await claimExpired(current.db, { actor, limit: 1 });
    await releaseClaims(current.db, first, { actor, reason: 'S3 refused' });
    const second = await claimExpired(current.db, { actor, limit: 1 });
    await settleDeleted(current.db, first, actor);
    expect(await kept()).toBe(1);
    await settleDeleted(current.db, second, actor);
    expect(await kept()).toBe(0);
  });
});

describe('the watchdog', () => {
  it('resets the oldest claims first, and leaves out a row that another session has locked', async () => {
    const claimed = (secondsAgo: number) =>
      makePastes(current.db, 1, {
        status: 'PROCESSED',
        deletion: { status: 'DELETION_IN_PROGRESS', secondsAgo },
      });
    const [second] = await claimed(7300);
    const [first] = await claimed(7400);
    const [locked] = await claimed(7500);
    const reset = async () => {
      const options = { actor, stuckAfterSeconds: 7200, limit: 1 };
      await byPlainScans(current.db, (db) => resetStuckDeletions(db, options));
      const { rows } = await sql<{ id: string }>`
        SELECT id FROM pastes WHERE deletion_status = 'NOT_EXPIRED' ORDER BY id`.execute(current.db);
      return rows.map(({ id }) => id);
    };
    const release = await lockRow(current.db, 'pastes', locked!.id);
    try {
      expect(await reset()).toEqual([first!.id]);
      expect(await reset()).toEqual([second!.id, first!.id].toSorted());
      expect(await reset()).toHaveLength(2);
    } finally {
      await release();
    }
    expect(await reset()).toHaveLength(3);
  });

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
