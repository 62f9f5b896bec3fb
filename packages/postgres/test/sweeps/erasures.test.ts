import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { ExecutionTakenError } from '@pasteflow/domain';
import { sql } from 'kysely';
import {
  beginBrowserSession,
  cancelJob,
  createApiToken,
  createCappedJob,
  createPaste,
  createPastes,
  ensureUser,
  eraseUser,
  findGoodTokens,
  findRefusal,
  findNamesOf,
  findUserNames,
  importPastes,
  invite,
  isErased,
  listApiTokens,
  removeOwnedRows,
  requestDeletionsOf,
  retryJob,
  revealPaste,
} from '../../src/index.ts';
import { makePastes, makeUsers } from '../../src/testing/index.ts';
import { open, pasteToCreate, useDatabase } from '../support/database.ts';
import { entriesOf, runningJob } from '../support/jobs.ts';
import { untilSomebodyWaits } from '../support/locks.ts';
import { urlOfRole } from '../support/roles.ts';

const current = useDatabase();

type Db = typeof current.db;

const newUserId = async () => (await makeUsers(current.db, 1))[0]!.id;
const pasteOf = (userId: string) => pasteToCreate({ userId });
const job = (userId: string) => ({ userId, jobType: 'export', parameters: {} });
const token = (userName: string) => ({
  userName,
  name: 't',
  tokenHash: randomBytes(32),
  expiresInSeconds: null,
});
const session = (userId: string) => ({
  userId,
  signedInBy: null,
  secretHash: randomBytes(32),
  lastsSeconds: 60,
});

async function counts(userId: string) {
  const { rows } = await sql<Record<string, number>>`
    SELECT (SELECT count(*) FROM pastes WHERE user_id = ${userId})::integer AS pastes,
      (SELECT count(*) FROM jobs WHERE user_id = ${userId})::integer AS jobs,
      (SELECT count(*) FROM api_tokens WHERE user_id = ${userId} AND revoked_at IS NULL)::integer AS tokens,
      (SELECT count(*) FROM invitations WHERE user_id = ${userId})::integer AS invitations`.execute(
    current.db,
  );
  return rows[0];
}

/** What creates something for a user, each with what it then has. */
const creations: Readonly<Record<string, readonly [(db: Db, userId: string) => Promise<unknown>, object]>> = {
  'a paste': [(db, userId) => createPaste(db, pasteOf(userId)), { pastes: 1 }],
  'a group of pastes': [
    (db, userId) => createPastes(db, [pasteToCreate(), pasteOf(userId), pasteToCreate()]),
    { pastes: 1 },
  ],
  'a job': [(db, userId) => createCappedJob(db, job(userId), 5), { jobs: 1 }],
  'a session': [(db, userId) => beginBrowserSession(db, session(userId)), { tokens: 1 }],
  'an invitation': [(db, userId) => invite(db, session(userId)), { invitations: 1 }],
};

describe.each(Object.keys(creations))('%s', (name) => {
  const [create, created] = creations[name]!;
  const nothing = { pastes: 0, jobs: 0, tokens: 0, invitations: 0 };

  it('that is being created makes the erasure wait, and is there to be erased', async () => {
    const userId = await newUserId();
    let erasing: Promise<boolean> | undefined;
    await current.db.transaction().execute(async (tx) => {
      await create(tx, userId);
      erasing = eraseUser(current.db, userId);
      await untilSomebodyWaits(current.db);
    });
    expect(await erasing).toBe(true);
    const tokens = 'tokens' in created ? 0 : undefined; // a session has ended
    expect(await counts(userId)).toEqual({ ...nothing, ...created, ...(tokens === 0 && { tokens }) });
  });

  it('that waits for the erasure is not created', async () => {
    const userId = await newUserId();
    let creating: Promise<unknown> | undefined;
    await current.db.transaction().execute(async (tx) => {
      await eraseUser(tx, userId);
      creating = create(current.db, userId).catch((error: unknown) => error); // a group waits for 200 ms only
      await untilSomebodyWaits(current.db);
    });
    await creating;
    expect(await counts(userId)).toEqual(nothing);
    await create(current.db, userId);
    expect(await counts(userId)).toEqual(nothing);
  });
});

describe('an erased user', () => {
  it('has no name, and no good token or session, from one commit on', async () => {
    const made = token('anna');
    const { userId } = await createApiToken(current.db, made);
    const browser = session(userId);
    await beginBrowserSession(current.db, browser);
    expect(await eraseUser(current.db, userId)).toBe(true);
    expect(await findUserNames(current.db, userId)).toEqual({
      userName: `erased ${userId}`,
      shownName: null,
    });
    expect(await findGoodTokens(current.db, [made.tokenHash, browser.secretHash])).toEqual(new Set());
    expect(await listApiTokens(current.db, 'anna')).toBeNull();
    expect(await isErased(current.db, userId)).toBe(true);
    expect(await findRefusal(current.db, pasteOf(userId))).toBe('user_erased');
  });

  it('is no reader of what it has revealed, whichever comes first', async () => {
    const [owner, reader] = [await newUserId(), await newUserId()];
    const pastes = await makePastes(current.db, 2, { userId: owner, status: 'PROCESSED', burn: true });
    const readBy = async () =>
      (await current.db.selectFrom('pastes').select('read_by').where('user_id', '=', owner).execute()).map(
        ({ read_by: id }) => id,
      );
    const reveal = (id: string) =>
      revealPaste(current.db, id, { readerKeyHash: randomBytes(32), readerId: reader, actor: 'api/test' });
    await reveal(pastes[0]!.id);
    expect(new Set(await readBy())).toEqual(new Set([null, reader]));
    await eraseUser(current.db, reader);
    expect(await findNamesOf(current.db, [owner, reader])).toHaveProperty('size', 1);
    await reveal(pastes[1]!.id);
    await removeOwnedRows(current.db, reader);
    expect(await readBy()).toEqual([null, null]);
  });

  it('is another one than who signs in later with the same name', async () => {
    const userId = await ensureUser(current.db, 'https://login#anna');
    await eraseUser(current.db, userId);
    const later = await ensureUser(current.db, 'https://login#anna');
    expect(later).not.toBe(userId);
    expect(await createPaste(current.db, pasteOf(later))).not.toBeNull();
  });

  it('gets no token that is made by name meanwhile', async () => {
    const userId = await ensureUser(current.db, 'anna');
    let making: ReturnType<typeof createApiToken> | undefined;
    await current.db.transaction().execute(async (tx) => {
      await eraseUser(tx, userId);
      making = createApiToken(current.db, token('anna'));
      await untilSomebodyWaits(current.db);
    });
    expect((await making!).userId).not.toBe(userId);
    await expect(createApiToken(current.db, token(`erased ${userId}`))).rejects.toThrow(
      'is the name of an erased user',
    );
  });

  it('is erased once by any number of requests at once, and an unknown one never', async () => {
    const userId = await newUserId();
    const answers = await Promise.all(Array.from({ length: 8 }, () => eraseUser(current.db, userId)));
    expect(answers.filter(Boolean)).toHaveLength(1);
    expect(await current.db.selectFrom('erasures').select('user_id').execute()).toEqual([
      { user_id: userId },
    ]);
    expect(await eraseUser(current.db, '01900000-0000-7000-8000-000000000000')).toBe(false);
  });

  it('leaves other users and anonymous pastes alone', async () => {
    const [erased, other] = [await newUserId(), await newUserId()];
    for (const userId of [erased, other, null]) await createPaste(current.db, pasteToCreate({ userId }));
    await eraseUser(current.db, erased);
    expect(await requestDeletionsOf(current.db, { userId: erased, limit: 10 })).toBe(1);
    const { rows } = await sql<{ user_id: string | null }>`
      SELECT user_id FROM pastes WHERE deletion_requested_at IS NOT NULL`.execute(current.db);
    expect(rows).toEqual([{ user_id: erased }]);
    expect(await createPaste(current.db, pasteOf(other))).not.toBeNull();
  });

  it('waits for an import that writes, whose pastes are there to be erased', async () => {
    const running = await runningJob(current.db);
    let erasing: Promise<boolean> | undefined;
    await current.db.transaction().execute(async (tx) => {
      await importPastes(tx, { ...running, entries: entriesOf(running, [0, 1]) });
      erasing = eraseUser(current.db, running.userId);
      await untilSomebodyWaits(current.db);
    });
    await erasing;
    expect(await requestDeletionsOf(current.db, { userId: running.userId, limit: 10 })).toBe(2);
  });

  it('stops an import that runs, whether it has begun to write or not', async () => {
    const running = await runningJob(current.db);
    let importing: Promise<unknown> | undefined;
    const importOf = async (position: number) =>
      await importPastes(current.db, { ...running, entries: entriesOf(running, [position]) });
    await current.db.transaction().execute(async (tx) => {
      await eraseUser(tx, running.userId);
      importing = importOf(0).catch((error: unknown) => error);
      await untilSomebodyWaits(current.db);
    });
    expect(await importing).toBeInstanceOf(ExecutionTakenError);
    await expect(importOf(1)).rejects.toThrow(ExecutionTakenError);
    expect(await counts(running.userId)).toMatchObject({ pastes: 0 });
  });

  it('gets no retry of a job, also when the retry waits for the erasure', async () => {
    const userId = await newUserId();
    const { id } = (await createCappedJob(current.db, job(userId), null))!;
    await cancelJob(current.db, { jobId: id, actor: 'api/test', by: 'its owner' });
    let retrying: Promise<unknown> | undefined;
    await current.db.transaction().execute(async (tx) => {
      await eraseUser(tx, userId);
      retrying = retryJob(current.db, id, null);
      await untilSomebodyWaits(current.db);
    });
    expect(await retrying).toEqual({ kind: 'not_found' });
    const janitor = open(urlOfRole(current.url, 'pasteflow_janitor'));
    try {
      expect(await retryJob(janitor, id, null)).toEqual({ kind: 'not_found' });
    } finally {
      await janitor.destroy();
    }
    expect(await counts(userId)).toMatchObject({ jobs: 1 });
  });

  it.each(['pasteflow_api', 'pasteflow_janitor'] as const)('can be made by %s', async (role) => {
    const userId = await newUserId();
    const db = open(urlOfRole(current.url, role));
    try {
      expect(await eraseUser(db, userId)).toBe(true);
    } finally {
      await db.destroy();
    }
  });
});
