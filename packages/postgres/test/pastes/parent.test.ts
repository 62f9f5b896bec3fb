import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import {
  createPaste,
  createPastes,
  requestDeletion,
  findPaste,
  findRefusal,
  takeDown,
  type NewPaste,
} from '../../src/index.ts';
import { makePastes, makeUsers, type PasteShape } from '../../src/testing/index.ts';
import { newPaste, pasteToCreate, useDatabase } from '../support/database.ts';

const current = useDatabase({ fresh: 'file' });

const made = async (shape: PasteShape): Promise<string> =>
  (await makePastes(current.db, 1, shape))[0]!.shortCode;
const user = async (): Promise<string> => (await makeUsers(current.db, 1))[0]!.id;
const childOf = (parent: string | null, options: Partial<NewPaste> = {}) =>
  pasteToCreate({ parent, ...options });

/** Creates a paste alone and one in a group with others, and says which of the two were created. */
async function bothWays(parent: string, options: Partial<NewPaste> = {}): Promise<readonly boolean[]> {
  const alone = await createPaste(current.db, childOf(parent, options));
  const [before, grouped, after] = await createPastes(current.db, [
    pasteToCreate(),
    childOf(parent, options),
    pasteToCreate(),
  ]);
  expect([before, after]).not.toContain(null);
  return [alone !== null, grouped !== null];
}

describe('the parent of a new paste', () => {
  it('is kept in the row, of a paste that is created alone and of one in a group', async () => {
    const { shortCode: parent } = await newPaste(current.db);
    const pastes = [childOf(parent), childOf(parent), childOf(null), childOf(parent)];
    await createPaste(current.db, pastes[0]!);
    await createPastes(current.db, pastes.slice(1));
    const rows = await Promise.all(pastes.map(({ shortCode }) => findPaste(current.db, shortCode)));
    expect(rows.map((row) => row?.parent)).toEqual([parent, parent, null, parent]);
  });

  const readable: readonly (readonly [string, PasteShape])[] = [
    ['whose upload is in progress', { status: 'IN_PROGRESS' }],
    ['that is stored', { status: 'PROCESSED' }],
    ['that expires later', { status: 'PROCESSED', expiresInSeconds: 3600 }],
  ];
  it.each(readable)('may be a paste %s', async (_name, shape) => {
    expect(await bothWays(await made(shape))).toEqual([true, true]);
  });

  const gone: readonly (readonly [string, PasteShape])[] = [
    ['whose upload failed', { status: 'FAILED' }],
    ['that has expired', { status: 'PROCESSED', expiresInSeconds: -1 }],
    [
      'that is claimed for deletion',
      {
        status: 'PROCESSED',
        expiresInSeconds: -1,
        deletion: { status: 'DELETION_IN_PROGRESS', secondsAgo: 1 },
      },
    ],
    [
      'that is claimed although it has not expired',
      { status: 'PROCESSED', deletion: { status: 'DELETION_IN_PROGRESS', secondsAgo: 1 } },
    ],
    ['that is deleted', { status: 'PROCESSED', deletion: { status: 'DELETED', secondsAgo: 1 } }],
    ['that is deleted when it is read', { status: 'PROCESSED', burn: true }],
  ];
  it.each(gone)('is no paste %s, and costs only its own creation in a group', async (_name, shape) => {
    expect(await bothWays(await made(shape))).toEqual([false, false]);
  });

  it('is no paste that does not exist, or that an operator took down', async () => {
    expect(await bothWays('doesNotExist')).toEqual([false, false]);
    const taken = await made({ status: 'PROCESSED' });
    expect(await bothWays(taken)).toEqual([true, true]);
    const by = { actor: 'ops/test', class: 'malware', reason: 'reported' } as const;
    await takeDown(current.db, [taken], by);
    await sql`UPDATE pastes SET expires_at = now() + interval '1 hour' WHERE short_code = ${taken}`.execute(
      current.db,
    );
    expect(await bothWays(taken)).toEqual([false, false]);
  });

  it('is a private paste only for its owner', async () => {
    const [owner, stranger] = [await user(), await user()];
    const secret = await made({ status: 'PROCESSED', visibility: 'private', userId: owner });
    expect(await bothWays(secret, { userId: owner })).toEqual([true, true]);
    expect(await bothWays(secret, { userId: stranger })).toEqual([false, false]);
    expect(await bothWays(secret)).toEqual([false, false]);
    expect(await findRefusal(current.db, childOf(secret, { userId: owner }))).toBeNull();
    for (const userId of [stranger, null])
      expect(await findRefusal(current.db, childOf(secret, { userId }))).toBe('parent_not_found');
  });

  it('is never waited for: a creation locks no row of its parent', async () => {
    const { id, shortCode } = await newPaste(current.db);
    await current.db.transaction().execute(async (tx) => {
      await sql`SELECT FROM pastes WHERE id = ${id} FOR UPDATE`.execute(tx);
      expect(await bothWays(shortCode)).toEqual([true, true]);
    });
  });

  it('may be deleted and removed, before and after the creation commits', async () => {
    const { id, shortCode } = await newPaste(current.db);
    const child = childOf(shortCode);
    await current.db.transaction().execute(async (tx) => {
      expect(await createPaste(tx, child)).not.toBeNull();
      expect(await requestDeletion(current.db, id)).toBe(true); // another session, which waits for nothing
    });
    expect(await createPaste(current.db, childOf(shortCode))).toBeNull();
    await sql`DELETE FROM pastes WHERE id = ${id}`.execute(current.db);
    expect(await findPaste(current.db, child.shortCode)).toMatchObject({ parent: shortCode });
    expect(await findRefusal(current.db, childOf(shortCode))).toBe('parent_not_found');
  });

  it('must be a short code, also in plain SQL', async () => {
    for (const parent of ['', 'a b', 'x'.repeat(33), '../x', randomBytes(20).toString('base64url') + '-'])
      await expect(
        sql`INSERT INTO pastes (short_code, content_hash, size_bytes, parent)
          VALUES (${randomBytes(5).toString('hex')}, ${`sha256:${'0'.repeat(64)}`}, 1, ${parent})`.execute(
          current.db,
        ),
      ).rejects.toMatchObject({ code: '23514', constraint: 'pastes_parent' });
  });
});
