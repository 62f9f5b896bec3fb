import { randomBytes } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { sql } from 'kysely';
import {
  cancelSecretRequest,
  createPaste,
  createSecretRequest,
  ensureUser,
  eraseUser,
  finishErasure,
  findRequestOf,
  findSecretRequest,
  insertDeposit,
  listDeposits,
  listReceipts,
  listSecretRequests,
  readTimeline,
  removeOldRequests,
  removeOwnedRows,
  removeTombstones,
  retryFailed,
  startErasure,
  takePlace,
  type Place,
} from '../../src/index.ts';
import { makePastes } from '../../src/testing/index.ts';
import { pasteToCreate, useDatabase } from '../support/database.ts';

const current = useDatabase();
const actor = 'api/test';
const wrappedKey = Buffer.alloc(113, 1);
const everything = { limit: 100, part: null };

async function makeRequest(places: number, expiresInSeconds = 3600) {
  const code = randomBytes(11).toString('hex');
  const userId = await ensureUser(current.db, 'asker');
  const made = await createSecretRequest(current.db, {
    code,
    userId,
    message: 'Please',
    places,
    expiresInSeconds,
  });
  if (made === null) throw new Error('no request');
  return { code, userId };
}

/** As the api does it: place, paste and deposit in one transaction. @returns null: there was no place */
async function deposit(code: string): Promise<string | null> {
  return await current.db.transaction().execute(async (tx) => {
    const place = await takePlace(tx, code, actor);
    if (place === null) return null;
    const { userId, ...taken } = place;
    const paste = await createPaste(tx, pasteToCreate({ userId, visibility: 'private' }));
    if (paste === null) throw new Error('no paste');
    await insertDeposit(tx, { ...taken, shortCode: paste.shortCode, wrappedKey });
    return paste.shortCode;
  });
}

const pageOf = (userId: string, limit: number, after: Place | null = null) =>
  listSecretRequests(current.db, userId, { limit, after });

const requestOf = async (code: string) => (await findSecretRequest(current.db, code))!;

it('of 100 deposits at once exactly as many are taken as there are places, each with another number', async () => {
  const { code } = await makeRequest(20);
  const taken = (await Promise.all(Array.from({ length: 100 }, () => deposit(code)))).flatMap(
    (shortCode) => shortCode ?? [],
  );
  expect(taken).toHaveLength(20);
  const request = await requestOf(code);
  expect(request).toMatchObject({ status: 'USED_UP', taken: 20, places: 20 });
  const deposits = await listDeposits(current.db, request.id);
  expect(deposits.map(({ number }) => number)).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
  expect(deposits.map(({ shortCode }) => shortCode).toSorted()).toEqual(taken.toSorted());
  const { transitions } = await readTimeline(current.db, request.id);
  expect(transitions).toMatchObject([
    { machine: 'secret_request', from: 'OPEN', to: 'USED_UP', actor: 'postgres (api/test)' },
  ]);
});

it('a deposit whose transaction fails leaves its place', async () => {
  const { code } = await makeRequest(1);
  const failing = current.db.transaction().execute(async (tx) => {
    await takePlace(tx, code, actor);
    throw new Error('the quota is used up');
  });
  await expect(failing).rejects.toThrow('quota');
  expect(await requestOf(code)).toMatchObject({ status: 'OPEN', taken: 0 });
  expect(await deposit(code)).not.toBeNull();
});

it('takes no deposit once it is cancelled or has expired, and keeps those that it has', async () => {
  const cancelled = await makeRequest(3);
  await deposit(cancelled.code);
  const by = { userId: cancelled.userId, actor, reason: 'cancelled by its user' };
  const stranger = await ensureUser(current.db, 'stranger');
  expect(await cancelSecretRequest(current.db, cancelled.code, { ...by, userId: stranger })).toBe(false);
  expect(await cancelSecretRequest(current.db, cancelled.code, by)).toBe(true);
  expect(await cancelSecretRequest(current.db, cancelled.code, by)).toBe(false);
  expect(await deposit(cancelled.code)).toBeNull();
  const request = await requestOf(cancelled.code);
  expect(request).toMatchObject({ status: 'CANCELLED', taken: 1 });
  expect(await listDeposits(current.db, request.id)).toHaveLength(1);

  const expired = await makeRequest(3, -1);
  expect(await deposit(expired.code)).toBeNull();
  expect(await requestOf(expired.code)).toMatchObject({ status: 'OPEN', isExpired: true });
});

it('a deposit that waits for a cancel finds no place', async () => {
  const { code, userId } = await makeRequest(3);
  let waiting: Promise<string | null> | undefined;
  await current.db.transaction().execute(async (tx) => {
    await cancelSecretRequest(tx, code, { userId, actor, reason: 'cancelled' });
    waiting = deposit(code);
    await sql`SELECT pg_sleep(0.2)`.execute(tx);
  });
  expect(await waiting).toBeNull();
  expect(await requestOf(code)).toMatchObject({ taken: 0 });
});

it('a user has at most 100 that are open and have not expired', async () => {
  const { code, userId } = await makeRequest(1, -1);
  for (let i = 0; i < 100; i += 1) await makeRequest(1);
  await expect(makeRequest(1)).rejects.toThrow('no request');
  await cancelSecretRequest(current.db, (await pageOf(userId, 1)).rows[0]!.code, {
    userId,
    actor,
    reason: 'cancelled',
  });
  await makeRequest(1);
  expect((await pageOf(userId, 1000)).rows.map((request) => request.code)).toContain(code);
});

it('lists those of a user newest first, in pages that miss none', async () => {
  const { userId } = await makeRequest(1);
  for (let i = 0; i < 4; i += 1) await makeRequest(1);
  const all = (await pageOf(userId, 100)).rows.map(({ id }) => id);
  expect(all.length).toBeGreaterThanOrEqual(5);
  const paged: string[] = [];
  for (let next: Place | null = null, more = true; more; more = next !== null) {
    const page = await pageOf(userId, 2, next);
    paged.push(...page.rows.map(({ id }) => id));
    next = page.next;
  }
  expect(paged).toEqual(all);
  expect(all).toEqual(all.toSorted().toReversed());
  expect((await pageOf(await ensureUser(current.db, 'stranger'), 100)).rows).toEqual([]);
});

it('a deposit keeps its key when its upload is retried, and loses it with the row of its paste', async () => {
  const { code } = await makeRequest(2);
  const { id, userId } = await requestOf(code);
  const shape = { userId, visibility: 'private' } as const;
  const [failed] = await makePastes(current.db, 1, { ...shape, status: 'FAILED' });
  const deletion = { status: 'DELETED', secondsAgo: 100 } as const;
  const [deleted] = await makePastes(current.db, 1, { ...shape, status: 'PROCESSED', deletion });
  await sql`INSERT INTO failed_payloads (paste_id, content) VALUES (${failed!.id}, 'content')`.execute(
    current.db,
  );
  for (const [number, { shortCode }] of [failed!, deleted!].entries())
    await insertDeposit(current.db, { requestId: id, number: number + 1, shortCode, wrappedKey });
  expect(await retryFailed(current.db, [failed!.shortCode], { actor, reason: null })).toHaveLength(1);
  expect(await removeTombstones(current.db, { retentionSeconds: 10, ...everything })).toBe(1);
  expect(await findRequestOf(current.db, deleted!.shortCode)).toBeNull();
  expect(await findRequestOf(current.db, failed!.shortCode)).toBe(code);
  const [left, ...others] = await listDeposits(current.db, id);
  expect([left, others]).toMatchObject([{ number: 1, shortCode: failed!.shortCode, wrappedKey }, []]);
  const { wrappedKey: _, ...receipt } = left!;
  expect(await listReceipts(current.db, id)).toEqual([receipt]);
});

it('is removed some time after its expiry, and not while a deposit is there', async () => {
  const empty = await makeRequest(1, -1000);
  const used = await makeRequest(1, -1000);
  const { id: requestId } = await requestOf(used.code);
  await insertDeposit(current.db, { requestId, number: 1, shortCode: 'before', wrappedKey });
  expect(await removeOldRequests(current.db, { retentionSeconds: 2000, ...everything })).toBe(0);
  expect(await removeOldRequests(current.db, { retentionSeconds: 10, ...everything })).toBe(1);
  expect(await findSecretRequest(current.db, empty.code)).toBeNull();
  expect(await findSecretRequest(current.db, used.code)).not.toBeNull();
});

it('stays for ten minutes after its expiry at least: a deposit that came in time may not have committed', async () => {
  const { code } = await makeRequest(1, -500);
  expect(await removeOldRequests(current.db, { retentionSeconds: 1, ...everything })).toBe(0);
  expect(await findSecretRequest(current.db, code)).not.toBeNull();
});

it('ends with the erasure of its user, also for the deposit that comes later', async () => {
  const { code, userId } = await makeRequest(3);
  await deposit(code);
  await eraseUser(current.db, userId);
  expect(await findSecretRequest(current.db, code)).toBeNull();
  await expect(deposit(code)).rejects.toThrow('no paste');
  await startErasure(current.db, userId, actor);
  expect(await finishErasure(current.db, userId, actor)).toBe(false);
  await removeOwnedRows(current.db, userId);
  const { rows } = await sql`SELECT FROM secret_requests UNION ALL SELECT FROM deposits`.execute(current.db);
  expect(rows).toEqual([]);
});
