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
} from '../../src/index.ts';
import { lockRow, makePastes } from '../../src/testing/index.ts';
import { pasteToCreate, useDatabase } from '../support/database.ts';
import { byPlainScans } from '../support/plain-scans.ts';

const current = useDatabase();
const stored = async () =>
  (await makePastes(current.db, 1, { status: 'PROCESSED', burn: true, expiresInSeconds: 3600 }))[0]!;

describe('revealing a paste', () => {
  it('has effect for exactly one of 100 readers, with its actor and its reason in the audit trail', async () => {
    const { id, shortCode } = await stored();
    const results = await Promise.all(
      Array.from({ length: 100 }, async (_, n) => [
        `api/${n}`,
        await revealPaste(current.db, id, `api/${n}`),
      ]),
    );
    const winners = results.filter(([, revealed]) => revealed);
    expect(winners).toHaveLength(1);
    const { transitions } = await readTimeline(current.db, id);
    expect(transitions).toMatchObject([
      { from: 'NOT_EXPIRED', to: 'DELETION_IN_PROGRESS', actor: winners[0]![0], reason: 'revealed' },
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
      expect(await revealPaste(current.db, paste.id, 'api/test')).toBe(false);
  });

  it('has effect on a paste that never expires, which is then gone', async () => {
    const [paste] = await makePastes(current.db, 1, { status: 'PROCESSED', burn: true });
    expect(await revealPaste(current.db, paste!.id, 'api/test')).toBe(true);
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
      expect(await revealPaste(current.db, paste!.id, 'api/test')).toBe(false);
    },
  );

  it('has no effect on a paste that was taken down, whenever it expires', async () => {
    const { id, shortCode } = await stored();
    await takeDown(current.db, [shortCode], { actor: 'ops/test', class: 'malware', reason: 'reported' });
    expect(await revealPaste(current.db, id, 'api/test')).toBe(false);
  });

  it('has no effect on a paste that was deleted after the transaction of the reveal began', async () => {
    const { id } = await stored();
    await current.db.transaction().execute(async (tx) => {
      await sql`SELECT now()`.execute(tx);
      expect(await requestDeletion(current.db, id)).toBe(true);
      expect(await revealPaste(tx, id, 'api/test')).toBe(false);
    });
  });

  it('never happens again, also when the claim was released and the paste expires later', async () => {
    const { id } = await stored();
    await revealPaste(current.db, id, 'api/test');
    await sql`UPDATE pastes SET deletion_status = 'NOT_EXPIRED', deletion_initiated_at = NULL, expires_at = now() + interval '1 day'`.execute(
      current.db,
    );
    expect(await revealPaste(current.db, id, 'api/test')).toBe(false);
  });

  it('leaves the paste to the reader for the given time, and then to one janitor', async () => {
    const { id, shortCode } = await stored();
    await revealPaste(current.db, id, 'api/test');
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

describe('the cleanup of revealed pastes', () => {
  const old = (id: string, seconds: number) =>
    sql`UPDATE pastes SET deletion_initiated_at = now() - make_interval(secs => ${seconds}) WHERE id = ${id}`.execute(
      current.db,
    );
  const revealed = async (secondsAgo: number) => {
    const { id } = await stored();
    await revealPaste(current.db, id, 'api/test');
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
