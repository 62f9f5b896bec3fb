import { describe, expect, it } from '@jest/globals';
import { randomBytes, randomUUID } from 'node:crypto';
import {
  beginBrowserSession,
  blockContent,
  claimExpired,
  claimIdempotencyKey,
  countDueOrphans,
  countRetryable,
  createApiToken,
  databaseTime,
  endBrowserSession,
  ensureUser,
  requestDeletions,
  requestDeletion,
  findAlive,
  findBlocked,
  findOwnPastes,
  findPaste,
  findPasteBySlug,
  findPastes,
  findRefusal,
  findRetryable,
  findStored,
  forgetUnseenOrphans,
  isSweepDue,
  listExportable,
  listPastes,
  readChanges,
  recordOrphans,
  recordSweepRun,
  retryFailed,
  revealPaste,
  revokeApiToken,
  searchPastes,
  takeDown,
  unblockContent,
  useApiToken,
  type Database,
} from '../../src/index.ts';
import { sql } from 'kysely';
import { makePastes, makeUsers, stepClockBack } from '../../src/testing/index.ts';
import { pasteToCreate, useDatabase } from '../support/database.ts';

const current = useDatabase();
const by = { actor: 'ops/test', class: 'malware', reason: 'reported' } as const;
const anyTime = { status: null, createdAfter: null, createdBefore: null };
const first = { limit: 10, after: null };
const AN_HOUR = 3600;

interface Deleted {
  readonly id: string;
  readonly shortCode: string;
  readonly slug: string;
  readonly userId: string;
}

/**
 * Whatever serves a paste, or something of it, and every statement that acts only on a paste that is there.
 */
const uses: Readonly<Record<string, (db: Database, paste: Deleted) => Promise<number | boolean>>> = {
  findPaste: async (db, { shortCode }) => !(await findPaste(db, shortCode))!.gone,
  findAlive: async (db, { shortCode }) => (await findAlive(db, [shortCode])).has(shortCode),
  findPastes: async (db, { shortCode }) => !(await findPastes(db, [shortCode])).get(shortCode)!.gone,
  findPasteBySlug: async (db, { slug }) => !(await findPasteBySlug(db, slug))!.gone,
  listPastes: async (db, { userId }) => (await listPastes(db, { userId, status: null }, first)).rows.length,
  searchPastes: async (db, { userId }) =>
    (
      await searchPastes(
        db,
        { userId, status: null, title: 'secret', visibility: null, language: null },
        first,
      )
    ).rows.length,
  findOwnPastes: async (db, { userId, shortCode }) =>
    (await findOwnPastes(db, { userId, shortCodes: [shortCode] })).length,
  listExportable: async (db, { userId }) =>
    (await listExportable(db, { userId, ...anyTime }, first)).rows.length,
  findRefusal: async (db, { shortCode, userId }) =>
    (await findRefusal(db, pasteToCreate({ parent: shortCode, userId }))) !== 'parent_not_found',
  readChanges: async (db, { id }) =>
    !(await readChanges(db, [{ kind: 'upload', id, after: null }])).get(id)!.gone,
  findStored: async (db) =>
    (await findStored(db, { after: '', upTo: null, before: new Date('2100-01-01'), limit: 10 })).length,
  findRetryable: async (db) => (await findRetryable(db, { since: new Date(0), ...first })).length,
  countRetryable: (db) => countRetryable(db, {}),
  retryFailed: async (db, { shortCode }) =>
    (await retryFailed(db, [shortCode], { actor: 'ops/test', reason: null })).length,
  revealPaste: (db, { id }) => revealPaste(db, id, { readerKeyHash: randomBytes(32), actor: 'api/test' }),
  requestDeletion: (db, { id }) => requestDeletion(db, id),
  requestDeletions: (db, { userId, shortCode }) => requestDeletions(db, { userId, shortCodes: [shortCode] }),
};

const states = ['IN_PROGRESS', 'PROCESSED', 'FAILED'] as const;

async function made(status: (typeof states)[number], options: { burn?: boolean } = {}): Promise<Deleted> {
  const [user] = await makeUsers(current.db, 1);
  const slug = `a-${randomBytes(5).toString('hex')}`;
  const shape = { status, userId: user!.id, slug, expiresInSeconds: 100 * AN_HOUR, ...options };
  const [paste] = await makePastes(current.db, 1, shape);
  if (status === 'FAILED')
    await current.db
      .insertInto('failed_payloads')
      .values({ paste_id: paste!.id, content: Buffer.from('made for a test') })
      .execute();
  await current.db.updateTable('pastes').set({ title: 'a secret' }).where('id', '=', paste!.id).execute();
  return { ...paste!, slug, userId: user!.id };
}

/** The uses that find the paste, or change it. */
async function foundBy(paste: Deleted): Promise<readonly string[]> {
  const found: string[] = [];
  for (const [name, use] of Object.entries(uses)) {
    const tx = await current.db.startTransaction().execute();
    if (await use(tx, paste)) found.push(name);
    await tx.rollback().execute();
  }
  return found;
}

const deletions: readonly (readonly [string, (paste: Deleted) => Promise<unknown>])[] = [
  ['its user deleted', ({ id }) => requestDeletion(current.db, id)],
  [
    'its user deleted with others',
    ({ userId, shortCode }) => requestDeletions(current.db, { userId, shortCodes: [shortCode] }),
  ],
  ['an operator took down', ({ shortCode }) => takeDown(current.db, [shortCode], by)],
];

describe.each(deletions)('when the clock of Postgres steps back by an hour, a paste that %s', (_, end) => {
  it.each(states)('stays gone for every read, list, retry and deletion: %s', async (status) => {
    const paste = await made(status);
    expect((await foundBy(paste)).length).toBeGreaterThan(8);
    await end(paste);
    expect(await foundBy(paste)).toEqual([]);
    await stepClockBack(current.db, AN_HOUR);
    expect(await foundBy(paste)).toEqual([]);
  });

  it('is deleted when the clock shows the time of the deletion again', async () => {
    const paste = await made('PROCESSED');
    await end(paste);
    await stepClockBack(current.db, AN_HOUR);
    await stepClockBack(current.db, -AN_HOUR);
    const claims = await claimExpired(current.db, { actor: 'janitor/test', limit: 10 });
    expect(claims).toMatchObject([{ id: paste.id }]);
  });
});

it('a paste that was read once stays gone when its claim is released and the clock steps back', async () => {
  const paste = await made('PROCESSED', { burn: true });
  expect(await foundBy(paste)).toContain('revealPaste');
  expect(await revealPaste(current.db, paste.id, { readerKeyHash: randomBytes(32), actor: 'api/test' })).toBe(
    true,
  );
  await current.db
    .updateTable('pastes')
    .set({ deletion_status: 'NOT_EXPIRED', deletion_initiated_at: null })
    .execute();
  await stepClockBack(current.db, AN_HOUR);
  expect(await foundBy(paste)).toEqual(['listPastes', 'searchPastes']); // which tell its owner that it was read
});

it('the cleanup takes first what is due longest, expired or asked for', async () => {
  const expired = await makePastes(current.db, 2, { status: 'PROCESSED', expiresInSeconds: -AN_HOUR });
  const deleted = await made('PROCESSED');
  await requestDeletion(current.db, deleted.id);
  const later = await makePastes(current.db, 1, { status: 'PROCESSED', expiresInSeconds: 0 });
  const ids: string[] = [];
  for (let n = 0; n < 4; n++)
    ids.push(...(await claimExpired(current.db, { actor: 'janitor/test', limit: 1 })).map(({ id }) => id));
  expect(ids).toEqual([...expired.map(({ id }) => id).toSorted(), deleted.id, later[0]!.id]);
});

describe('when the clock of Postgres steps back by an hour', () => {
  const tokenHash = randomBytes(32);
  const isGood = async () => (await useApiToken(current.db, tokenHash))?.good;

  it('a token that was revoked stays so', async () => {
    const token = { userName: randomUUID(), name: 'laptop', tokenHash, expiresInSeconds: 10 * AN_HOUR };
    const { id } = await createApiToken(current.db, token);
    expect(await isGood()).toBe(true);
    await revokeApiToken(current.db, id);
    await stepClockBack(current.db, AN_HOUR);
    expect(await isGood()).toBe(false);
  });

  it('a session that was ended stays so', async () => {
    const userId = await ensureUser(current.db, randomUUID());
    const session = { userId, signedInBy: null, secretHash: tokenHash, lastsSeconds: 10 * AN_HOUR };
    await beginBrowserSession(current.db, session);
    expect(await isGood()).toBe(true);
    await endBrowserSession(current.db, tokenHash);
    await stepClockBack(current.db, AN_HOUR);
    expect(await isGood()).toBe(false);
  });

  it('a key whose request died is free for the next one, and one that is claimed now is not', async () => {
    const claim = (claimId = randomUUID()) =>
      claimIdempotencyKey(current.db, {
        caller: 'address:192.0.2.1',
        keyHash: tokenHash,
        fingerprint: tokenHash,
        claimId,
        holdSeconds: 60,
        retentionSeconds: AN_HOUR,
      });
    await claim();
    expect(await claim()).toMatchObject({ kind: 'running' });
    await stepClockBack(current.db, AN_HOUR);
    expect(await claim()).toMatchObject({ kind: 'claimed' });
    expect(await claim()).toMatchObject({ kind: 'running' });
  });

  it('a daily sweep is due, and then again after its interval', async () => {
    const run = {
      sweep: 'tombstones',
      outcome: 'done',
      seconds: 1,
      counts: {},
      janitor: 'janitor/a',
    } as const;
    const isDue = () => isSweepDue(current.db, 'tombstones', 60);
    await recordSweepRun(current.db, run);
    expect(await isDue()).toBe(false);
    await stepClockBack(current.db, AN_HOUR);
    expect(await isDue()).toBe(true);
    await recordSweepRun(current.db, run);
    expect(await isDue()).toBe(false);
  });

  it('an orphan that an earlier run has seen is not one that this run has seen', async () => {
    const seen = [{ key: 'pastes/abcdefghij', lastModified: new Date(0) }];
    const due = async () => {
      const seenAt = await databaseTime(current.db);
      return await countDueOrphans(current.db, { seenAt, graceSeconds: 0 });
    };
    const seenAt = await databaseTime(current.db);
    await recordOrphans(current.db, seen, seenAt);
    expect(await countDueOrphans(current.db, { seenAt, graceSeconds: 0 })).toBe(1);
    await stepClockBack(current.db, AN_HOUR);
    await sql`UPDATE orphan_objects SET first_seen_at = now() - interval '1 day'`.execute(current.db);
    expect(await due()).toBe(0);
    expect(await forgetUnseenOrphans(current.db, await databaseTime(current.db))).toBe(1);
  });

  it('content stays blocked, and content whose block was lifted stays free', async () => {
    const [blocked, lifted] = ['1', '2'].map((digit) => `sha256:${digit.repeat(64)}`) as [string, string];
    for (const hash of [blocked, lifted]) await blockContent(current.db, hash, by);
    await unblockContent(current.db, lifted, by);
    await stepClockBack(current.db, AN_HOUR);
    expect(await findBlocked(current.db, [blocked, lifted])).toEqual(new Set([blocked]));
  });
});
