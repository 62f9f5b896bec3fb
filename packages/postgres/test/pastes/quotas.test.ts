import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import {
  claimExpired,
  countOlderPastes,
  createPaste,
  createPastes,
  findQuotaRefusal,
  readStoredUsage,
  removeFailed,
  removeTombstones,
  requestDeletions,
  retryFailed,
  settleDeleted,
  walkOpenPastes,
  type Database,
  type NewPaste,
  type Quotas,
} from '../../src/index.ts';
import { makePastes, makeUsers } from '../../src/testing/index.ts';
import { open, pasteToCreate, useDatabase } from '../support/database.ts';

const current = useDatabase({ fresh: 'database' });

const none: Quotas = { maxPastes: null, maxBytes: null, maxStoredPastes: null, maxStoredBytes: null };

async function newUser(): Promise<string> {
  const [user] = await makeUsers(current.db, 1);
  return user!.id;
}

const pastesOf = (userId: string | null, count: number, bytes = 10): NewPaste[] =>
  Array.from({ length: count }, () => pasteToCreate({ userId, content: Buffer.alloc(bytes, 'x') }));

/** Of each owner, what the counters say beside what a scan of the pastes says. */
async function differences(db: Database): Promise<readonly unknown[]> {
  const { rows } = await sql`
    WITH scanned AS (
      SELECT coalesce(user_id, '00000000-0000-0000-0000-000000000000') AS owner, size_bytes FROM pastes
      WHERE counted AND deletion_status <> 'DELETED' AND user_id IS NOT NULL
      UNION ALL
      SELECT '00000000-0000-0000-0000-000000000000', size_bytes FROM pastes WHERE counted AND deletion_status <> 'DELETED'
    ), scan AS (SELECT owner, count(*) AS pastes, sum(size_bytes) AS bytes FROM scanned GROUP BY owner),
    counters AS (SELECT owner, sum(pastes) AS pastes, sum(bytes) AS bytes FROM stored_usage GROUP BY owner)
    SELECT * FROM scan FULL JOIN counters USING (owner)
    WHERE coalesce(scan.pastes, 0) <> coalesce(counters.pastes, 0) OR coalesce(scan.bytes, 0) <> coalesce(counters.bytes, 0)`.execute(
    db,
  );
  return rows;
}

/** Deletes what is due as the cleanup does. @returns how many */
async function cleanUp(db: Database): Promise<number> {
  const claims = await claimExpired(db, { actor: 'janitor', limit: 1000 });
  return await settleDeleted(db, claims, 'janitor');
}

const settleUploads = (db: Database) =>
  sql`UPDATE pastes SET status = 'PROCESSED', s3_url = 's3://pasteflow/x', processed_at = now() WHERE status = 'IN_PROGRESS'`.execute(
    db,
  );

describe('a quota of a user', () => {
  it.each([
    ['pastes', { ...none, maxPastes: 17 }],
    ['bytes', { ...none, maxBytes: 175 }],
  ] as const)('of %s lets exactly the allowed of 200 concurrent creations pass', async (quota, quotas) => {
    const userId = await newUser();
    const groups = [...Array.from({ length: 100 }, () => 1), ...Array.from({ length: 20 }, () => 5)];
    const created = await Promise.all(
      groups.map((size) =>
        createPastes(current.db, pastesOf(userId, size), { quotas, maxLockWaitMs: 25_000 }),
      ),
    );
    expect(created.flat()).toHaveLength(200);
    expect(created.flat().filter((paste) => paste !== null)).toHaveLength(17);
    expect(await readStoredUsage(current.db, userId)).toEqual({ pastes: 17, bytes: 170 });
    expect(await differences(current.db)).toEqual([]);
    const { rows } = await sql<Record<string, number>>`
      SELECT (SELECT count(*)::integer FROM pastes) AS pastes, (SELECT count(*)::integer FROM paste_payloads) AS payloads,
        (SELECT count(*)::integer FROM task_executions) AS executions`.execute(current.db);
    expect(rows).toEqual([{ pastes: 17, payloads: 17, executions: 17 }]);
    expect(await findQuotaRefusal(current.db, { userId, sizeBytes: 10 }, quotas)).toEqual({
      quota,
      used: quota === 'pastes' ? 17 : 170,
      allowed: quota === 'pastes' ? 17 : 175,
    });
  });

  it('costs the other users of a group nothing', async () => {
    const [full, other] = [await newUser(), await newUser()];
    const quotas = { ...none, maxPastes: 2 };
    const group = [...pastesOf(full, 3), ...pastesOf(other, 2), ...pastesOf(null, 1)];
    const created = await createPastes(current.db, group, { quotas });
    expect(created.map((paste) => paste !== null)).toEqual([true, true, false, true, true, true]);
  });

  it('below what is used refuses creations only', async () => {
    const userId = await newUser();
    const pastes = pastesOf(userId, 3);
    await createPastes(current.db, pastes, { quotas: { ...none, maxPastes: 3 } });
    const lower = { quotas: { ...none, maxPastes: 1 } };
    expect(await createPaste(current.db, pastesOf(userId, 1)[0]!, lower)).toBeNull();
    await settleUploads(current.db);
    const shortCodes = pastes.map(({ shortCode }) => shortCode);
    expect(await requestDeletions(current.db, { userId, shortCodes })).toBe(3);
    expect(await cleanUp(current.db)).toBe(3);
    expect(await createPaste(current.db, pastesOf(userId, 1)[0]!, lower)).not.toBeNull();
  });
});

describe('the quota of all pastes', () => {
  it.each([
    ['stored_bytes', 100, { ...none, maxStoredBytes: 100 }],
    ['stored_pastes', 3, { ...none, maxStoredPastes: 3 }],
  ] as const)(
    'of %s refuses users and anonymous creators, and makes no creation wait',
    async (quota, allowed, quotas) => {
      const others = open(current.url);
      try {
        await current.db.transaction().execute(async (tx) => {
          expect(await createPaste(tx, pastesOf(null, 1, 40)[0]!, { quotas })).not.toBeNull();
          // In another session, while the first one has not committed.
          for (const userId of [null, await newUser()])
            expect(await createPaste(others, pastesOf(userId, 1, 30)[0]!, { quotas })).not.toBeNull();
        });
      } finally {
        await others.destroy();
      }
      expect(await readStoredUsage(current.db, null)).toEqual({ pastes: 3, bytes: 100 });
      for (const userId of [null, await newUser()]) {
        expect(await createPaste(current.db, pastesOf(userId, 1, 1)[0]!, { quotas })).toBeNull();
        expect(await findQuotaRefusal(current.db, { userId, sizeBytes: 1 }, quotas)).toEqual({
          quota,
          used: allowed,
          allowed,
        });
      }
    },
  );

  it.each([{ maxStoredPastes: 2 }, { maxStoredBytes: 20 }])(
    'counts the others of a group, also where nothing is stored yet: %j',
    async (most) => {
      const group = pastesOf(null, 3);
      const created = await createPastes(current.db, group, { quotas: { ...none, ...most } });
      expect(created.map((paste) => paste !== null)).toEqual([true, true, false]);
    },
  );
});

describe('what is stored', () => {
  const quotas = { ...none, maxPastes: 1000 };

  it('is given back once when deletions race', async () => {
    const userId = await newUser();
    const pastes = pastesOf(userId, 20);
    await createPastes(current.db, pastes, { quotas });
    await settleUploads(current.db);
    const shortCodes = pastes.slice(5).map(({ shortCode }) => shortCode);
    await Promise.all([1, 2, 3].map(() => requestDeletions(current.db, { userId, shortCodes })));
    expect(await readStoredUsage(current.db, userId)).toEqual({ pastes: 20, bytes: 200 });
    const claims = await claimExpired(current.db, { actor: 'janitor', limit: 1000 });
    const settled = await Promise.all([1, 2, 3].map(() => settleDeleted(current.db, claims, 'janitor')));
    expect(settled.toSorted((a, b) => a - b)).toEqual([0, 0, 15]);
    expect(await readStoredUsage(current.db, userId)).toEqual({ pastes: 5, bytes: 50 });
    await removeTombstones(current.db, { retentionSeconds: -1, limit: 1000 });
    expect(await readStoredUsage(current.db, userId)).toEqual({ pastes: 5, bytes: 50 });
    expect(await differences(current.db)).toEqual([]);
  });

  it('counts a FAILED paste until it is removed, and a retried one once', async () => {
    const userId = await newUser();
    const [failed] = await makePastes(current.db, 1, { status: 'FAILED', userId });
    const [retried] = await makePastes(current.db, 1, { status: 'FAILED', userId });
    expect(await countOlderPastes(current.db, [failed!.id, retried!.id])).toBe(2);
    await sql`INSERT INTO failed_payloads SELECT id, 'made for a test' FROM pastes`.execute(current.db);
    const used = await readStoredUsage(current.db, userId);
    expect(used).toEqual({ pastes: 2, bytes: 30 });
    expect(await retryFailed(current.db, [retried!.shortCode], { actor: 'ops', reason: null })).toHaveLength(
      1,
    );
    expect(await readStoredUsage(current.db, userId)).toEqual(used);
    expect(await removeFailed(current.db, [failed!.id])).toBe(1);
    expect(await readStoredUsage(current.db, userId)).toEqual({ pastes: 1, bytes: 15 });
    expect(await differences(current.db)).toEqual([]);
  });

  it('stays as it was when a creation or a deletion is rolled back', async () => {
    const userId = await newUser();
    await createPastes(current.db, pastesOf(userId, 3), { quotas });
    const killed = current.db.transaction().execute(async (tx) => {
      await createPastes(tx, pastesOf(userId, 4), { quotas });
      await sql`DELETE FROM pastes WHERE ctid = (SELECT min(ctid) FROM pastes)`.execute(tx);
      await sql`SELECT pg_terminate_backend(pg_backend_pid())`.execute(tx);
    });
    await expect(killed).rejects.toThrow();
    expect(await readStoredUsage(current.db, userId)).toEqual({ pastes: 3, bytes: 30 });
    expect(await differences(current.db)).toEqual([]);
  });

  it('is counted whatever statement changes the pastes', async () => {
    const userId = await newUser();
    await createPastes(current.db, [...pastesOf(userId, 6), ...pastesOf(null, 2)], { quotas });
    await sql`UPDATE pastes SET counted = false WHERE short_code = (SELECT min(short_code) FROM pastes WHERE user_id IS NOT NULL)`.execute(
      current.db,
    );
    expect(await readStoredUsage(current.db, userId)).toEqual({ pastes: 5, bytes: 50 });
    await sql`DELETE FROM pastes WHERE user_id IS NULL`.execute(current.db);
    expect(await readStoredUsage(current.db, null)).toEqual({ pastes: 5, bytes: 50 });
    expect(await differences(current.db)).toEqual([]);
  });

  it('has the pastes from before the quotas after a walk, each once', async () => {
    const userId = await newUser();
    await createPastes(current.db, pastesOf(userId, 5));
    expect(await readStoredUsage(current.db, null)).toEqual({ pastes: 0, bytes: 0 });
    await makePastes(current.db, 1, {
      status: 'PROCESSED',
      userId,
      deletion: { status: 'DELETED', secondsAgo: 9 },
    });
    const { uncounted } = await walkOpenPastes(current.db, { after: null, limit: 100 });
    const counted = await Promise.all([1, 2, 3].map(() => countOlderPastes(current.db, uncounted)));
    expect(counted.reduce((sum, each) => sum + each)).toBe(5);
    expect(await readStoredUsage(current.db, userId)).toEqual({ pastes: 5, bytes: 50 });
    expect((await walkOpenPastes(current.db, { after: null, limit: 100 })).uncounted).toEqual([]);
    expect(await differences(current.db)).toEqual([]);
  });

  it('is written by no creation without quotas', async () => {
    await createPastes(current.db, [...pastesOf(await newUser(), 2), ...pastesOf(null, 1)]);
    await settleUploads(current.db);
    expect(await current.db.selectFrom('stored_usage').selectAll().execute()).toEqual([]);
  });
});

it('creations under quotas and deletions of the same users do not wait for each other in a circle', async () => {
  const users = (await makeUsers(current.db, 12)).map(({ id }) => id);
  const round = async (n: number): Promise<void> => {
    const owners = n % 2 === 0 ? users : users.toReversed();
    const pastes = owners.flatMap((userId) => pastesOf(userId, 2));
    // Without quotas of users no creation locks their counters before the trigger does.
    const quotas = n % 3 === 0 ? { ...none, maxStoredBytes: 1e6 } : { ...none, maxPastes: 40, maxBytes: 500 };
    await createPastes(current.db, pastes, { quotas, maxLockWaitMs: 25_000 });
    const own = sql`short_code = ANY (${pastes.map(({ shortCode }) => shortCode)})`;
    await sql`UPDATE pastes SET status = 'PROCESSED', s3_url = 's3://pasteflow/x', processed_at = now() WHERE ${own}`.execute(
      current.db,
    );
    await sql`UPDATE pastes SET deletion_requested_at = now() WHERE ${own}`.execute(current.db);
    const claims = await claimExpired(current.db, { actor: 'janitor', limit: 20 });
    await settleDeleted(current.db, claims, 'janitor');
  };
  await Promise.all(
    Array.from({ length: 8 }, async (_, worker) => {
      for (let n = worker; n < 160; n += 8) await round(n);
    }),
  );
  expect(await differences(current.db)).toEqual([]);
});
