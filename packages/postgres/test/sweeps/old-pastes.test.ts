import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { claimOldFailed, removeFailed, removeTombstones, retryFailed } from '../../src/index.ts';
import { lockRow, makePastes, type MadePaste, type PasteShape } from '../../src/testing/index.ts';
import { useDatabase } from '../support/database.ts';

const current = useDatabase();

async function make(shape: PasteShape): Promise<MadePaste> {
  const [paste] = await makePastes(current.db, 1, shape);
  return paste!;
}

/** FAILED pastes with their payloads, created at the same time. */
async function makeFailed(createdSecondsAgo: number, count = 1): Promise<readonly MadePaste[]> {
  const pastes = await makePastes(current.db, count, { status: 'FAILED', createdSecondsAgo });
  await sql`INSERT INTO failed_payloads (paste_id, content)
    SELECT unnest(${pastes.map(({ id }) => id)}::uuid[]), 'made for a test'`.execute(current.db);
  return pastes;
}

async function makeTombstones(...ages: readonly number[]): Promise<readonly MadePaste[]> {
  const shapes = ages.map((secondsAgo) => ({ status: 'DELETED', secondsAgo }) as const);
  return Promise.all(
    shapes.map((deletion) => make({ status: 'PROCESSED', createdSecondsAgo: 1000, deletion })),
  );
}

const claim = (options: Partial<Parameters<typeof claimOldFailed>[1]> = {}, db = current.db) =>
  claimOldFailed(db, { retentionSeconds: 100, after: null, limit: 10, ...options });
const removeOld = (limit = 10) => removeTombstones(current.db, { retentionSeconds: 100, limit });
const codes = (pastes: readonly { shortCode: string }[]) => pastes.map(({ shortCode }) => shortCode);

async function idsIn(table: 'pastes' | 'failed_payloads'): Promise<ReadonlySet<string>> {
  const id = sql.ref(table === 'pastes' ? 'id' : 'paste_id');
  const { rows } = await sql<{ id: string }>`SELECT ${id} AS id FROM ${sql.table(table)}`.execute(current.db);
  return new Set(rows.map((row) => row.id));
}

describe('claiming old FAILED pastes', () => {
  it('claims those that were created before the retention, and deletes their payloads and no others', async () => {
    const [young] = await makeFailed(50);
    const [old] = await makeFailed(200);
    const [oldest] = await makeFailed(300);
    await make({ status: 'IN_PROGRESS', createdSecondsAgo: 300 });
    await make({ status: 'PROCESSED', createdSecondsAgo: 300 });
    expect(codes(await claim({ limit: 1 }))).toEqual([oldest!.shortCode]);
    expect(await idsIn('failed_payloads')).toEqual(new Set([old!.id, young!.id]));
    expect(codes(await claim())).toEqual([oldest!.shortCode, old!.shortCode]);
    expect(await idsIn('failed_payloads')).toEqual(new Set([young!.id]));
  });

  it('continues after the last one, also among pastes that were created at the same time', async () => {
    await makePastes(current.db, 5, {
      status: 'FAILED',
      createdSecondsAgo: 300,
      shortCodes: ['e', 'b', 'd', 'a', 'c'],
    });
    await current.db.transaction().execute(async (tx) => {
      // An index would give the rows in its order, also without an ORDER BY.
      await sql`SET LOCAL enable_indexscan = off`.execute(tx);
      await sql`SET LOCAL enable_bitmapscan = off`.execute(tx);
      const first = await claim({ limit: 2 }, tx);
      const second = await claim({ limit: 2, after: first.at(-1)! }, tx);
      const third = await claim({ limit: 2, after: second.at(-1)! }, tx);
      expect([first, second, third].map(codes)).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
      expect(await claim({ after: third.at(-1)! }, tx)).toEqual([]);
    });
  });

  it('skips a paste that a retry is replacing, since the object under its code then belongs to the new paste', async () => {
    const [retried] = await makeFailed(300);
    const [other] = await makeFailed(200);
    const retry = await current.db.startTransaction().execute();
    try {
      expect(await retryFailed(retry, [retried!.shortCode], { actor: 'ops', reason: null })).toHaveLength(1);
      expect(codes(await claim())).toEqual([other!.shortCode]);
    } finally {
      await retry.commit().execute();
    }
    expect(codes(await claim())).toEqual([other!.shortCode]);
  });
});

describe('removing FAILED pastes', () => {
  it('removes those that are named, and no paste in another state', async () => {
    const [named, other] = await makeFailed(300, 2);
    const waiting = await make({ status: 'IN_PROGRESS' });
    const stored = await make({ status: 'PROCESSED' });
    expect(await removeFailed(current.db, [named!.id, waiting.id, stored.id])).toBe(1);
    expect(await idsIn('pastes')).toEqual(new Set([other!.id, waiting.id, stored.id]));
  });

  it('leaves a paste that another session has locked to the next run', async () => {
    const [locked, free] = await makeFailed(300, 2);
    const unlock = await lockRow(current.db, 'pastes', locked!.id);
    const ids = [locked!.id, free!.id];
    expect(await removeFailed(current.db, ids)).toBe(1);
    await unlock();
    expect(await removeFailed(current.db, ids)).toBe(1);
  });
});

describe('removing tombstones', () => {
  it('removes the pastes that were DELETED before the retention, oldest first', async () => {
    const [young, old] = await makeTombstones(50, 200, 300);
    const kept = [
      await make({ status: 'PROCESSED', createdSecondsAgo: 1000 }),
      await make({ status: 'PROCESSED', deletion: { status: 'DELETION_IN_PROGRESS', secondsAgo: 1000 } }),
      young!,
    ].map(({ id }) => id);
    expect(await removeOld(1)).toBe(1);
    expect(await idsIn('pastes')).toEqual(new Set([...kept, old!.id]));
    expect(await removeOld()).toBe(1);
    expect(await idsIn('pastes')).toEqual(new Set(kept));
  });

  it('leaves a tombstone that another session has locked to the next run', async () => {
    const [locked] = await makeTombstones(300, 200);
    const unlock = await lockRow(current.db, 'pastes', locked!.id);
    expect(await removeOld()).toBe(1);
    await unlock();
    expect(await removeOld()).toBe(1);
  });
});
