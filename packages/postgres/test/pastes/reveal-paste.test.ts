import { hash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import {
  claimExpired,
  createPaste,
  createPastes,
  requestDeletion,
  findPaste,
  readTimeline,
  revealPaste,
  settleDeleted,
  takeDown,
  takeOverBurned,
  releaseClaims,
  resetStuckDeletions,
  type Database,
} from '../../src/index.ts';
import { lockRow, makePastes } from '../../src/testing/index.ts';
import { pasteToCreate, useDatabase } from '../support/database.ts';
import { byPlainScans } from '../support/plain-scans.ts';

const current = useDatabase();
const stored = async () =>
  (await makePastes(current.db, 1, { status: 'PROCESSED', burn: true, expiresInSeconds: 3600 }))[0]!;
const keyHash = (key: string | number) => hash('sha256', String(key), 'buffer');
const reveal = (id: string, key: string, db: Database = current.db) =>
  revealPaste(db, id, { readerKeyHash: keyHash(key), actor: 'api/test' });

describe('revealing a paste', () => {
  it('has effect for exactly one of 100 readers, with its actor and its reason in the audit trail', async () => {
    const { id, shortCode } = await stored();
    const results = await Promise.all(
      Array.from({ length: 100 }, async (_, n) => [
        `api/${n}`,
        await revealPaste(current.db, id, { readerKeyHash: keyHash(n), actor: `api/${n}` }),
      ]),
    );
    const winners = results.filter(([, revealed]) => revealed);
    expect(winners).toHaveLength(1);
    const { transitions } = await readTimeline(current.db, id);
    expect(transitions).toMatchObject([
      {
        from: 'NOT_EXPIRED',
        to: 'DELETION_IN_PROGRESS',
        actor: `postgres (${winners[0]![0]})`,
        reason: 'revealed',
      },
    ]);
    expect(await findPaste(current.db, shortCode)).toMatchObject({
      burned_at: expect.any(Date),
      gone: true,
    });
  });

  it('has no effect on a paste that stays, or that is not stored, or has expired', async () => {
    const [plain] = await makePastes(current.db, 1, { status: 'PROCESSED' });
    const [waiting] = await makePastes(current.db, 1, { status: 'IN_PROGRESS', burn: true });
    const [failed] = await makePastes(current.db, 1, { status: 'FAILED', burn: true });
    const [expired] = await makePastes(current.db, 1, {
      status: 'PROCESSED',
      burn: true,
      expiresInSeconds: -1,
    });
    for (const paste of [plain!, waiting!, failed!, expired!])
      expect(await reveal(paste.id, 'a reader')).toBe(false);
  });

  it('has effect on a paste that never expires, which is then gone', async () => {
    const [paste] = await makePastes(current.db, 1, { status: 'PROCESSED', burn: true });
    expect(await reveal(paste!.id, 'a reader')).toBe(true);
    expect(await findPaste(current.db, paste!.shortCode)).toMatchObject({ gone: true });
  });

  it.each(['DELETION_IN_PROGRESS', 'DELETED'] as const)(
    'has no effect on a paste that is %s, whenever it expires',
    async (status) => {
      const [paste] = await makePastes(current.db, 1, {
        status: 'PROCESSED',
        burn: true,
        deletion: { status, secondsAgo: 10 },
        expiresInSeconds: 3600,
      });
      expect(await reveal(paste!.id, 'a reader')).toBe(false);
    },
  );

  it('has no effect on a paste that was taken down, whenever it expires', async () => {
    const { id, shortCode } = await stored();
    await takeDown(current.db, [shortCode], { actor: 'ops/test', class: 'malware', reason: 'reported' });
    expect(await reveal(id, 'a reader')).toBe(false);
  });

  it('has no effect on a paste that was deleted after the transaction of the reveal began', async () => {
    const { id } = await stored();
    await current.db.transaction().execute(async (tx) => {
      await sql`SELECT now()`.execute(tx);
      expect(await requestDeletion(current.db, id)).toBe(true);
      expect(await reveal(id, 'a reader', tx)).toBe(false);
    });
  });

  it('never happens again, also when the claim was released and the paste expires later', async () => {
    const { id } = await stored();
    await reveal(id, 'a reader');
    await sql`UPDATE pastes SET deletion_status = 'NOT_EXPIRED', deletion_initiated_at = NULL, expires_at = now() + interval '1 day'`.execute(
      current.db,
    );
    expect(await reveal(id, 'a reader')).toBe(false);
  });

  it('leaves the paste to the reader for the given time, and then to one janitor', async () => {
    const { id, shortCode } = await stored();
    await reveal(id, 'a reader');
    const takeOver = () => takeOverBurned(current.db, { afterSeconds: 300, limit: 10 });
    expect([
      ...(await takeOver()),
      ...(await claimExpired(current.db, { actor: 'janitor/a', limit: 10 })),
    ]).toEqual([]);
    await sql`UPDATE pastes SET deletion_initiated_at = now() - interval '301 seconds'`.execute(current.db);
    const claims = await Promise.all(Array.from({ length: 10 }, takeOver));
    expect(claims.flat()).toMatchObject([{ id, shortCode }]);
  });
});

describe('repeating a reveal', () => {
  const revealed = async () => {
    const { id } = await stored();
    expect(await reveal(id, 'the reader')).toBe(true);
    return id;
  };
  const aged = (id: string, seconds: number) =>
    sql`UPDATE pastes SET deletion_initiated_at = deletion_initiated_at - make_interval(secs => ${seconds}),
      burned_at = burned_at - make_interval(secs => ${seconds}) WHERE id = ${id}`.execute(current.db);

  it('has effect for the reader who claimed the paste, and for no other', async () => {
    const id = await revealed();
    expect(await reveal(id, 'another reader')).toBe(false);
    expect(await reveal(id, 'the reader')).toBe(true);
    expect(await reveal(id, 'another reader')).toBe(false);
    const { transitions } = await readTimeline(current.db, id);
    expect(transitions).toHaveLength(1);
  });

  it('has effect for each of many requests of one reader at once, and for none of another reader', async () => {
    const { id } = await stored();
    const keys = Array.from({ length: 40 }, (_, n) => (n % 2 === 0 ? 'one' : 'other'));
    const granted = await Promise.all(keys.map(async (key) => ((await reveal(id, key)) ? key : null)));
    const winners = granted.filter((key) => key !== null);
    expect([winners.length, new Set(winners).size]).toEqual([20, 1]);
  });

  it('has effect for five minutes, however late the cleanup is', async () => {
    const id = await revealed();
    await aged(id, 290);
    expect(await reveal(id, 'the reader')).toBe(true);
    await aged(id, 11);
    expect(await reveal(id, 'the reader')).toBe(false);
  });

  it.each([
    [
      'a takedown',
      async (id: string) => {
        const { rows } = await sql<{ code: string }>`
          SELECT short_code AS code FROM pastes WHERE id = ${id}`.execute(current.db);
        await takeDown(current.db, [rows[0]!.code], { actor: 'ops/test', class: 'malware', reason: 'x' });
      },
    ],
    [
      'a cleanup that has taken the paste over',
      () => takeOverBurned(current.db, { afterSeconds: 0, limit: 10 }),
    ],
    [
      'a cleanup whose object was refused',
      async () => {
        const claims = await takeOverBurned(current.db, { afterSeconds: 0, limit: 10 });
        await releaseClaims(current.db, claims, { actor: 'janitor/test', reason: 'x' });
      },
    ],
    [
      'the watchdog',
      () => resetStuckDeletions(current.db, { actor: 'janitor/test', stuckAfterSeconds: -1, limit: 10 }),
    ],
  ])('ends with %s', async (_name, end) => {
    const id = await revealed();
    await end(id);
    expect(await reveal(id, 'the reader')).toBe(false);
  });

  it('finds the paste that a transaction has claimed whose commit it waits for', async () => {
    const { id } = await stored();
    const first = await current.db.startTransaction().execute();
    expect(await reveal(id, 'the reader', first)).toBe(true);
    const second = reveal(id, 'the reader');
    const other = reveal(id, 'another reader');
    await first.commit().execute();
    expect([await second, await other]).toEqual([true, false]);
  });
});

describe('the cleanup of revealed pastes', () => {
  const old = (id: string, seconds: number) =>
    sql`UPDATE pastes SET deletion_initiated_at = now() - make_interval(secs => ${seconds}) WHERE id = ${id}`.execute(
      current.db,
    );
  const revealed = async (secondsAgo: number) => {
    const { id } = await stored();
    await reveal(id, 'a reader');
    await old(id, secondsAgo);
    return id;
  };
  const takeOver = (limit: number) =>
    byPlainScans(current.db, (db) => takeOverBurned(db, { afterSeconds: 300, limit }));
  const idsTaken = async (limit: number) => (await takeOver(limit)).map(({ id }) => id);

  it('takes over the longest revealed first, each once, and waits for no row that another session has locked', async () => {
    const second = await revealed(400);
    const first = await revealed(500);
    const locked = await revealed(600);
    const release = await lockRow(current.db, 'pastes', locked);
    try {
      expect([await idsTaken(1), await idsTaken(1), await idsTaken(1)]).toEqual([[first], [second], []]);
    } finally {
      await release();
    }
    expect(await idsTaken(10)).toEqual([locked]);
  });

  it('takes over neither the claims of other janitors nor deleted pastes', async () => {
    const deletion = { status: 'DELETION_IN_PROGRESS', secondsAgo: 600 } as const;
    await makePastes(current.db, 1, { status: 'PROCESSED', burn: true, deletion });
    const deleted = await revealed(600);
    const taken = await takeOver(10);
    expect(taken.map(({ id }) => id)).toEqual([deleted]);
    expect(await settleDeleted(current.db, taken, 'janitor/test')).toBe(1);
    await old(deleted, 600);
    expect(await takeOver(10)).toEqual([]);
  });
});

describe('a paste that is deleted when it is read', () => {
  it('stays so: no statement makes it an ordinary paste', async () => {
    await stored();
    await expect(sql`UPDATE pastes SET burn = false`.execute(current.db)).rejects.toMatchObject({
      code: 'PF002',
    });
  });

  it('is created alone and in a group, beside others', async () => {
    const one = pasteToCreate({ burn: true });
    const group = [pasteToCreate(), pasteToCreate({ burn: true }), pasteToCreate()];
    await createPaste(current.db, one);
    await createPastes(current.db, group);
    const rows = await Promise.all([one, ...group].map(({ shortCode }) => findPaste(current.db, shortCode)));
    expect(rows.map((row) => row?.burn)).toEqual([true, false, true, false]);
  });
});
