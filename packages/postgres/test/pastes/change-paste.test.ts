import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import {
  changePaste,
  claimExpired,
  eraseUser,
  findPaste,
  rejectReports,
  reportPaste,
  requestDeletion,
  revealPaste,
  settleDeleted,
  takeDown,
  type ChangeOutcome,
  type Database,
  type PasteChanges,
} from '../../src/index.ts';
import { makePastes, makeUsers, type PasteShape } from '../../src/testing/index.ts';
import { useDatabase } from '../support/database.ts';
import { untilSomebodyWaits } from '../support/locks.ts';

const current = useDatabase({ fresh: 'file' });

let userId: string;
beforeEach(async () => {
  userId = (await makeUsers(current.db, 1))[0]!.id;
});

interface Made {
  readonly id: string;
  readonly code: string;
}
const make = async (shape: Partial<PasteShape> = {}): Promise<Made> => {
  const made = { status: 'PROCESSED', userId, ...shape } as PasteShape;
  const [paste] = await makePastes(current.db, 1, made);
  return { id: paste!.id, code: paste!.shortCode };
};
const TOKEN = createHash('sha256').update('the token').digest();
async function makeAnonymous(): Promise<Made> {
  const [paste] = await makePastes(current.db, 1, { status: 'PROCESSED' });
  await sql`UPDATE pastes SET delete_token_hash = ${TOKEN} WHERE id = ${paste!.id}`.execute(current.db);
  return { id: paste!.id, code: paste!.shortCode };
}
const change = (
  { id }: Made,
  changes: PasteChanges,
  by: { readonly userId?: string | null; readonly deleteTokenHash?: Buffer | null } = { userId },
): Promise<ChangeOutcome> =>
  changePaste(current.db, id, changes, {
    userId: null,
    deleteTokenHash: null,
    actor: 'api/test',
    ...by,
  });
const rowOf = async ({ code }: Made) => (await findPaste(current.db, code))!;
const recordsOf = ({ id }: Made) =>
  current.db
    .selectFrom('paste_changes')
    .select(['field', 'from', 'to', 'changed_by', 'actor'])
    .where('paste_id', '=', id)
    .orderBy('id')
    .execute();

/** Changes a paste while a transaction has it locked, which first runs `before`. */
async function changeBehind(
  paste: Made,
  before: (tx: Database) => Promise<unknown>,
  changes: PasteChanges = { title: 'late' },
): Promise<ChangeOutcome> {
  let changed: Promise<ChangeOutcome> | undefined;
  await current.db.transaction().execute(async (tx) => {
    await before(tx);
    changed = change(paste, changes);
    await untilSomebodyWaits(current.db);
  });
  return await changed!;
}

describe('a change of a paste', () => {
  it('gives the named fields their values, leaves the others, and records no value that tells of the content', async () => {
    const paste = await make({ expiresInSeconds: 3600 });
    const at = new Date('2027-01-02T03:04:05.678Z');
    const changes = { title: 'a secret', syntax: 'python', visibility: 'private', expires: { at } } as const;
    const { expires_at: before } = await rowOf(paste);
    expect(await change(paste, changes)).toBe('changed');
    const row = await rowOf(paste);
    expect(row).toMatchObject({ title: 'a secret', syntax: 'python', visibility: 'private', expires_at: at });
    const by = { changed_by: 'owner', actor: 'postgres (api/test)' };
    expect((await recordsOf(paste)).toSorted((one, other) => one.field.localeCompare(other.field))).toEqual([
      { field: 'expires_at', from: before!.toISOString(), to: at.toISOString(), ...by },
      { field: 'syntax', from: null, to: null, ...by },
      { field: 'title', from: null, to: null, ...by },
      { field: 'visibility', from: 'unlisted', to: 'private', ...by },
    ]);
    expect(await change(paste, { syntax: null, expires: null })).toBe('changed');
    expect(await rowOf(paste)).toMatchObject({ title: 'a secret', syntax: null, expires_at: null });
  });

  it('that changes nothing records nothing', async () => {
    const paste = await make();
    for (let n = 0; n < 2; n += 1) expect(await change(paste, { title: 'once' })).toBe('changed');
    expect(await change(paste, {})).toBe('changed');
    expect(await recordsOf(paste)).toHaveLength(1);
  });

  it('again and again leaves the last hundred records of each field', async () => {
    const paste = await make();
    await change(paste, { syntax: 'python' });
    for (let n = 0; n < 105; n += 1) expect(await change(paste, { title: `title ${n}` })).toBe('changed');
    const fields = (await recordsOf(paste)).map(({ field }) => field);
    expect(fields).toEqual(['syntax', ...Array.from({ length: 100 }, () => 'title')]);
  });

  it('counts the time until the expiry from when it has the lock', async () => {
    const paste = await make({ status: 'IN_PROGRESS' });
    expect(await change(paste, { expires: { inSeconds: 600 } })).toBe('changed');
    const { rows } = await sql<{ seconds: number }>`
      SELECT extract(epoch FROM expires_at - now())::float AS seconds FROM pastes WHERE id = ${paste.id}`.execute(
      current.db,
    );
    expect(rows[0]!.seconds).toBeGreaterThan(540);
    expect(rows[0]!.seconds).toBeLessThanOrEqual(600);
  });

  it.each([-1, 59, 31_536_060])('is refused for a time in %d seconds', async (seconds) => {
    const paste = await make();
    const at = new Date(Date.now() + seconds * 1000);
    expect(await change(paste, { expires: { at }, title: 'x' })).toBe('expiry');
    expect(await rowOf(paste)).toMatchObject({ expires_at: null, title: null });
  });

  it('is for the owner, or for the delete token of a paste without one', async () => {
    const stranger = (await makeUsers(current.db, 1))[0]!.id;
    const [own, anonymous] = [await make(), await makeAnonymous()];
    const forged = createHash('sha256').update('another').digest();
    for (const by of [{}, { userId: stranger }, { deleteTokenHash: TOKEN }])
      expect(await change(own, { title: 'x' }, by)).toBe('forbidden');
    for (const by of [{}, { userId }, { deleteTokenHash: forged }])
      expect(await change(anonymous, { title: 'x' }, by)).toBe('forbidden');
    expect(await change(anonymous, { title: 'x' }, { deleteTokenHash: TOKEN })).toBe('changed');
    expect(await recordsOf(anonymous)).toMatchObject([{ field: 'title', changed_by: 'delete_token' }]);
    expect(await change(anonymous, { visibility: 'private' }, { deleteTokenHash: TOKEN })).toBe('ownerless');
  });

  it('never tells of the content of an encrypted paste', async () => {
    const paste = await make();
    await sql`UPDATE pastes SET encrypted = true WHERE id = ${paste.id}`.execute(current.db);
    for (const changes of [{ title: 'x' }, { syntax: 'python' }])
      expect(await change(paste, changes)).toBe('encrypted');
    expect(await change(paste, { title: null, expires: null })).toBe('changed');
  });

  it('that comes after the end of the paste brings it back in no state', async () => {
    const [expired, deleted, down, held, read, failed] = [
      await make({ expiresInSeconds: -1 }),
      await make(),
      await make(),
      await make(),
      await make({ burn: true }),
      await make({ status: 'FAILED' }),
    ];
    await requestDeletion(current.db, deleted.id);
    await takeDown(current.db, [down.code], { actor: 'ops/test', class: 'spam', reason: 'reported' });
    await sql`UPDATE pastes SET held_at = now() WHERE id = ${held.id}`.execute(current.db);
    await revealPaste(current.db, read.id, { readerKeyHash: TOKEN, actor: 'api/test' });
    const expected = { gone: [expired, deleted, down, read], held: [held], failed: [failed] } as const;
    for (const [outcome, pastes] of Object.entries(expected))
      for (const paste of pastes)
        for (const changes of [{ expires: null }, { expires: { inSeconds: 3600 }, title: 'x' }]) {
          expect(await change(paste, changes)).toBe(outcome);
          expect(await recordsOf(paste)).toEqual([]);
          expect((await rowOf(paste)).gone).toBe(outcome === 'gone');
        }
  });

  it('leaves no copy of the title with the tombstone, and its record goes with the row', async () => {
    const paste = await make();
    await change(paste, { title: 'first words' });
    await change(paste, { title: 'second words' });
    await requestDeletion(current.db, paste.id);
    const claims = await claimExpired(current.db, { actor: 'janitor/test', limit: 1000 });
    await settleDeleted(current.db, claims, 'janitor/test');
    expect(await rowOf(paste)).toMatchObject({ title: null, deletion_status: 'DELETED' });
    expect(JSON.stringify(await recordsOf(paste))).not.toContain('words');
    await sql`DELETE FROM pastes WHERE id = ${paste.id}`.execute(current.db);
    expect(await recordsOf(paste)).toEqual([]);
  });
});

describe('of changes at the same time', () => {
  it('those of different fields all stay, and of one field the later one', async () => {
    const paste = await make();
    const outcome = await changeBehind(
      paste,
      (tx) =>
        changePaste(
          tx,
          paste.id,
          { title: 'first', syntax: 'python' },
          {
            userId,
            deleteTokenHash: null,
            actor: 'api/test',
          },
        ),
      { title: 'second', visibility: 'private' },
    );
    expect(outcome).toBe('changed');
    const row = await rowOf(paste);
    expect(row).toMatchObject({ title: 'second', syntax: 'python', visibility: 'private' });
    expect(await recordsOf(paste)).toHaveLength(4);
  });

  it('and an end of the paste, the end that comes first wins', async () => {
    const by = { actor: 'ops/test', class: 'spam', reason: 'reported' } as const;
    const ends: readonly (readonly [ChangeOutcome, (tx: Database, paste: Made) => Promise<unknown>])[] = [
      ['gone', (tx, { id }) => requestDeletion(tx, id)],
      ['gone', (tx, { code }) => takeDown(tx, [code], by)],
      [
        'gone',
        (tx, { id }) => sql`UPDATE pastes SET expires_at = clock_timestamp() WHERE id = ${id}`.execute(tx),
      ],
      ['gone', (tx, { id }) => sql`DELETE FROM pastes WHERE id = ${id}`.execute(tx)],
      [
        'held',
        (tx, { id }) => reportPaste(tx, id, { class: 'spam', text: null, contact: null, reporter: 'a' }, 1),
      ],
      ['forbidden', (tx) => eraseUser(tx, userId)],
    ];
    for (const [outcome, end] of ends) {
      const paste = await make({ createdSecondsAgo: 60 });
      expect(await changeBehind(paste, (tx) => end(tx, paste), { expires: null, title: 'late' })).toBe(
        outcome,
      );
      expect(await recordsOf(paste)).toEqual([]);
    }
  });

  it('and a deletion that comes second, the paste is deleted', async () => {
    const paste = await make();
    let deleted: Promise<boolean> | undefined;
    await current.db.transaction().execute(async (tx) => {
      await changePaste(
        tx,
        paste.id,
        { title: 'x', expires: null },
        {
          userId,
          deleteTokenHash: null,
          actor: 'api/test',
        },
      );
      deleted = requestDeletion(current.db, paste.id);
      await untilSomebodyWaits(current.db);
    });
    expect(await deleted).toBe(true);
    expect((await rowOf(paste)).gone).toBe(true);
  });
});

describe('the reports of a paste with another title', () => {
  const report = ({ id }: Made, reporter: string) =>
    reportPaste(current.db, id, { class: 'phishing', text: null, contact: null, reporter }, null);
  const reject = ({ code }: Made) =>
    rejectReports(current.db, code, { actor: 'ops/test', reason: 'harmless' });

  it('are taken again, although its content was cleared under the title before', async () => {
    const paste = await make({ content: Buffer.from(`cleared for ${userId}`) });
    await report(paste, 'a');
    await reject(paste);
    expect(await report(paste, 'b')).toBe('cleared');
    await change(paste, { title: 'Your bank' });
    expect(await report(paste, 'b')).toBe('recorded');
  });

  it('are not rejected with those of another paste that has the title which it has taken since', async () => {
    const content = Buffer.from(`copied for ${userId}`);
    const [harmless, phishing] = [await make({ content }), await make({ content })];
    await change(harmless, { title: 'Notes' });
    await change(phishing, { title: 'Your bank' });
    await report(phishing, 'a');
    await change(phishing, { title: 'Notes' });
    await report(harmless, 'b');
    expect(await reject(harmless)).toEqual({ reports: 1, pastes: 1 });
    expect(await reject(phishing)).toEqual({ reports: 1, pastes: 1 });
  });

  it('clear nothing when they are rejected after the change, because the operator may have seen the title before', async () => {
    const paste = await make({ content: Buffer.from(`changed for ${userId}`) });
    await report(paste, 'a');
    await change(paste, { title: 'Your bank' });
    expect(await reject(paste)).toMatchObject({ reports: 1 });
    expect(await report(paste, 'b')).toBe('recorded');
    expect(await reject(paste)).toMatchObject({ reports: 1 });
    expect(await report(paste, 'c')).toBe('cleared');
  });
});
