import { expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { createPaste, readInventory } from '../../src/index.ts';
import { makeJobs, makePastes, makeUsers } from '../../src/testing/index.ts';
import { pasteToCreate, useDatabase } from '../support/database.ts';

const current = useDatabase();

const read = (limit?: number, hasQuotas = false) =>
  readInventory(current.db, { hasQuotas, ...(limit !== undefined && { limit }) });

it('counts a small database exactly, without what is deleted', async () => {
  const { db } = current;
  const [user] = await makeUsers(db, 3);
  await sql`UPDATE users SET erased_at = now() WHERE id <> ${user!.id} AND name = (SELECT max(name) FROM users WHERE id <> ${user!.id})`.execute(
    db,
  );
  await makePastes(db, 4, { status: 'PROCESSED', content: Buffer.alloc(100) });
  await makePastes(db, 2, {
    status: 'PROCESSED',
    expiresInSeconds: -1,
    deletion: { status: 'DELETED', secondsAgo: 1 },
  });
  await makePastes(db, 1, { status: 'FAILED', createdSecondsAgo: 3600, content: Buffer.alloc(10) });
  await makePastes(db, 1, { status: 'FAILED', createdSecondsAgo: 90_000, content: Buffer.alloc(10) });
  await makeJobs(db, 2, {
    userId: user!.id,
    status: 'processing',
    execution: { status: 'RUNNING', workerId: 'upload-worker/a' },
  });
  await sql`INSERT INTO failed_payloads SELECT id, 'x' FROM pastes WHERE status = 'FAILED'`.execute(db);
  await sql`INSERT INTO erasures (user_id, pastes, jobs) VALUES (gen_random_uuid(), 0, 0)`.execute(db);
  const exactly = (count: number) => ({ count, approximate: false });
  expect(await read()).toEqual({
    pastes: exactly(6),
    bytes: exactly(420),
    notExpired: exactly(6),
    createdPerMinute: 0.6,
    users: exactly(2),
    jobs: exactly(2),
    workers: exactly(1),
    erasures: exactly(1),
    reported: exactly(0),
    retryable: exactly(2),
    failed: { uploads: exactly(1), jobs: exactly(0), deliveries: exactly(0) },
  });
});

it('estimates what a larger database has, and the rate from the newest pastes alone', async () => {
  const { db } = current;
  await makeUsers(db, 50);
  await makePastes(db, 60, { status: 'PROCESSED', content: Buffer.alloc(1), createdSecondsAgo: 7200 });
  await makePastes(db, 40, { status: 'PROCESSED', content: Buffer.alloc(100), createdSecondsAgo: 60 });
  await sql`ANALYZE users, pastes`.execute(db);
  const { users, pastes, bytes, createdPerMinute } = await read(20);
  expect(users).toEqual({ count: 50, approximate: true });
  expect(pastes).toEqual({ count: 100, approximate: true });
  expect(bytes).toEqual({ count: 10_000, approximate: true });
  expect(createdPerMinute).toBeGreaterThan(15); // 20 in one minute
});

it('takes the pastes and the bytes of a larger database from the quotas, when there are any', async () => {
  const quotas = { maxPastes: null, maxStoredPastes: null, maxBytes: null, maxStoredBytes: 1e9 };
  for (let n = 0; n < 5; n++)
    await createPaste(current.db, pasteToCreate({ content: Buffer.alloc(7) }), { quotas });
  const { pastes, bytes } = await read(2, true);
  expect([pastes, bytes]).toEqual([
    { count: 5, approximate: false },
    { count: 35, approximate: false },
  ]);
});
