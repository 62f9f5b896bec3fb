import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { urlOfService } from '@pasteflow/dev-stack/testing';
import { jobKeyPrefix, objectKeyOf } from '@pasteflow/domain';
import { beginBrowserSession, createApiToken, eraseUser, invite, type Database } from '@pasteflow/postgres';
import { lockRow, makeJobs, makePastes, makeUsers } from '@pasteflow/postgres/testing';
import { sql, type KyselyPlugin } from 'kysely';
import { createCleanup } from '../src/sweeps/cleanup.ts';
import { createErasures } from '../src/sweeps/erasures.ts';
import { keysIn, putKeys } from './objects.ts';
import { connect, createWorld, running, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.stop());
beforeEach(async () => {
  await world.reset();
  await sql`TRUNCATE idempotency_keys, api_tokens`.execute(world.db);
});

const options = (db: Database = world.janitorDb) => ({
  db,
  store: world.store,
  actor: 'janitor/test',
  logger: world.log,
});
const erasureOf = async (userId: string) =>
  await world.db.selectFrom('erasures').selectAll().where('user_id', '=', userId).executeTakeFirst();
const sweep = (db?: Database) => createErasures(options(db)).runOnce(running());
const cleanup = (db?: Database) => createCleanup(options(db)).runOnce(running());

/** A user with something of everything, and another one with the same. */
async function makeOwner() {
  const [user] = await makeUsers(world.db, 1);
  const userId = user!.id;
  const { db } = world;
  const stored = await makePastes(db, 3, { status: 'PROCESSED', userId });
  const [named] = await makePastes(db, 1, { status: 'PROCESSED', userId, slug: `of-${userId.slice(-8)}` });
  const [renamed] = await makePastes(db, 1, { status: 'PROCESSED', userId });
  await sql`INSERT INTO slug_versions (lineage, number, paste_id, slug, named_at, actor)
    SELECT id, 1, id, 'of-nobody', now(), 'api/test' FROM pastes WHERE id = ${renamed!.id}`.execute(db);
  const [held] = await makePastes(db, 1, { status: 'PROCESSED', userId, visibility: 'private' });
  await makePastes(db, 2, { status: 'FAILED', userId });
  await makePastes(db, 1, { status: 'PROCESSED', userId, deletion: { status: 'DELETED', secondsAgo: 60 } });
  await sql`UPDATE pastes SET held_at = now() WHERE id = ${held!.id}`.execute(db);
  await sql`
    INSERT INTO paste_reports (paste_id, content_hash, class, reporter)
    SELECT id, content_hash, 'spam', sha256('a') FROM pastes WHERE id = ${held!.id}`.execute(db);
  const [ended] = await makeJobs(db, 1, { userId, status: 'completed', assets: 1 });
  await makeJobs(db, 1, { userId, status: 'queued' });
  const [importing] = await makeJobs(db, 1, { userId, status: 'processing', assets: 1 });
  const keys = [
    ...[...stored, named!, renamed!, held!].map(({ shortCode }) => objectKeyOf(shortCode)),
    ...[ended!, importing!].map(({ id }) => `${jobKeyPrefix(id)}a.zip`),
  ];
  await putKeys(world.store, keys);
  const token = {
    name: 'laptop',
    tokenHash: Buffer.from(userId.replaceAll('-', '')),
    expiresInSeconds: null,
  };
  await createApiToken(db, { ...token, userName: user!.name });
  const secretHash = Buffer.from(userId.replaceAll('-', '')).reverse();
  await beginBrowserSession(db, { userId, signedInBy: null, secretHash, lastsSeconds: 60 });
  await invite(db, { userId, secretHash, lastsSeconds: 60 });
  await sql`
    INSERT INTO idempotency_keys (caller, key_hash, fingerprint, claim_id, claimed_until)
    VALUES (${`user:${userId}`}, 'k', 'f', gen_random_uuid(), now())`.execute(db);
  return { userId, keys };
}

/** What is left of a user, by kind. */
async function left(userId: string): Promise<Record<string, number>> {
  const { rows } = await sql<Record<string, number>>`
    SELECT (SELECT count(*) FROM pastes WHERE user_id = ${userId} AND deletion_status <> 'DELETED')::integer AS pastes,
      (SELECT count(*) FROM pastes WHERE user_id = ${userId} AND (num_nonnulls(slug, title) > 0 OR id IN (SELECT paste_id FROM slug_versions)))::integer AS names,
      (SELECT count(*) FROM paste_reports r JOIN pastes p ON p.id = paste_id WHERE p.user_id = ${userId})::integer AS reports,
      (SELECT count(*) FROM jobs WHERE user_id = ${userId})::integer AS jobs,
      (SELECT count(*) FROM assets WHERE user_id = ${userId})::integer AS assets,
      (SELECT count(*) FROM api_tokens WHERE user_id = ${userId})::integer AS tokens,
      (SELECT count(*) FROM invitations WHERE user_id = ${userId})::integer AS invitations,
      (SELECT count(*) FROM idempotency_keys WHERE caller = 'user:' || ${userId}::text)::integer AS keys,
      (SELECT count(*) FROM users WHERE id = ${userId} AND name NOT LIKE 'erased %')::integer AS users`.execute(
    world.db,
  );
  return rows[0]!;
}

const nothing = {
  pastes: 0,
  names: 0,
  reports: 0,
  jobs: 0,
  assets: 0,
  tokens: 0,
  invitations: 0,
  keys: 0,
  users: 0,
};

describe('erasures', () => {
  it('leaves nothing of the user but ids, and everything of others', async () => {
    const [erased, other] = [await makeOwner(), await makeOwner()];
    const before = await left(other.userId);
    await eraseUser(world.janitorDb, erased.userId);
    expect(await erasureOf(erased.userId)).toMatchObject({
      status: 'requested',
      pastes: 8,
      jobs: 3,
    });
    expect(await sweep()).toMatchObject({ pastes: 8, cancelled: 2, removed: 3, refused: 0, done: 0 });
    expect(await erasureOf(erased.userId)).toMatchObject({ status: 'at_work', done_at: null });
    await cleanup();
    expect(await sweep()).toMatchObject({ pastes: 0, cancelled: 0, removed: 0, done: 1 });
    expect(await erasureOf(erased.userId)).toMatchObject({ status: 'done', pastes: 8, jobs: 3 });
    expect(await left(erased.userId)).toEqual(nothing);
    expect(await left(other.userId)).toEqual(before);
    expect(await keysIn(world.store)).toEqual(other.keys.toSorted());
    expect(await sweep()).toMatchObject({ pastes: 0, done: 0 });
    const trail = await world.db
      .selectFrom('state_transitions')
      .select(['from', 'to', 'actor'])
      .where('machine', '=', 'erasure')
      .execute();
    expect(trail).toEqual([
      { from: 'requested', to: 'at_work', actor: 'janitor/test' },
      { from: 'at_work', to: 'done', actor: 'janitor/test' },
    ]);
  });

  it('has the same end when its janitor is killed before any of its statements', async () => {
    const { userId } = await makeOwner();
    await eraseUser(world.janitorDb, userId);
    let kills = 0;
    for (let statement = 1; ; statement += 1) {
      const before = kills;
      for (const run of [sweep, cleanup, sweep]) {
        const killed = await run(world.janitorDb.withPlugin(dyingAt(statement))).then(
          () => false,
          (error: unknown) => String(error).includes('killed'),
        );
        if (killed) kills += 1;
        // As the watchdog does after two hours.
        await sql`UPDATE pastes SET deletion_status = 'NOT_EXPIRED', deletion_initiated_at = NULL
          WHERE deletion_status = 'DELETION_IN_PROGRESS'`.execute(world.db);
      }
      if (kills === before) break;
    }
    expect(kills).toBeGreaterThan(10);
    expect(await erasureOf(userId)).toMatchObject({ status: 'done' });
    expect(await left(userId)).toEqual(nothing);
    expect(await keysIn(world.store)).toEqual([]);
  });

  it('in two janitors at once does everything once', async () => {
    const owners = [await makeOwner(), await makeOwner()];
    for (const { userId } of owners) await eraseUser(world.janitorDb, userId);
    const runs = await Promise.all([sweep(), sweep(), cleanup()]);
    await cleanup();
    runs.push(...(await Promise.all([sweep(), sweep()])));
    expect(runs.reduce((sum, { done = 0 }) => sum + done, 0)).toBe(2);
    expect(runs.reduce((sum, { cancelled = 0 }) => sum + cancelled, 0)).toBe(4);
    for (const { userId } of owners) expect(await left(userId)).toEqual(nothing);
    expect(await keysIn(world.store)).toEqual([]);
  });

  it('waits for an upload in progress, and is not done before', async () => {
    const [user] = await makeUsers(world.db, 1);
    const userId = user!.id;
    const [paste] = await makePastes(world.db, 1, { status: 'IN_PROGRESS', userId });
    await eraseUser(world.janitorDb, userId);
    await sweep();
    await cleanup();
    expect(await sweep()).toMatchObject({ done: 0 });
    await sql`UPDATE pastes SET status = 'PROCESSED', s3_url = 's3://b/k', processed_at = now() WHERE id = ${paste!.id}`.execute(
      world.db,
    );
    await cleanup();
    expect(await sweep()).toMatchObject({ done: 1 });
  });

  it('is done for a user whose erasure comes after a hundred others that wait', async () => {
    for (const { id } of await makeUsers(world.db, 100)) {
      await makePastes(world.db, 1, { status: 'IN_PROGRESS', userId: id });
      await eraseUser(world.janitorDb, id);
    }
    const [last] = await makeUsers(world.db, 1);
    await makePastes(world.db, 1, { status: 'PROCESSED', userId: last!.id });
    await eraseUser(world.janitorDb, last!.id);
    expect(await sweep()).toMatchObject({ pastes: 101, done: 0 });
    await cleanup();
    expect(await sweep()).toMatchObject({ done: 1 });
    expect(await erasureOf(last!.id)).toMatchObject({ status: 'done' });
  });

  it('lets no paste of any user be served while S3 is away', async () => {
    await eraseOwnerOfArchive();
    const { userId } = await makeOwner();
    await eraseUser(world.janitorDb, userId);
    world.proxy.rule({}, { kind: 'fail', status: 503 });
    await expect(sweep()).rejects.toThrow();
    world.proxy.clear();
    const { rows } = await sql<{ served: number }>`
      SELECT count(*)::integer AS served FROM pastes
      WHERE user_id = ${userId} AND deletion_status <> 'DELETED' AND deletion_requested_at IS NULL`.execute(
      world.db,
    );
    expect(rows).toEqual([{ served: 0 }]);
  });

  it('goes on with the other users while jobs of some are locked, and with those later', async () => {
    const [waiting, ended] = [await makeOwner(), await eraseOwnerOfArchive()];
    await eraseUser(world.janitorDb, waiting.userId);
    const { userId } = await makeOwner();
    await eraseUser(world.janitorDb, userId);
    const url = `${urlOfService(world.databaseUrl, 'janitor')}?options=-c%20lock_timeout%3D300`;
    const impatient = connect(url);
    const release = [await lockJobOf(ended, 'completed'), await lockJobOf(waiting.userId, 'queued')];
    try {
      await sweep(impatient);
      await cleanup();
      expect(await sweep(impatient)).toMatchObject({ done: 1 });
      expect(await erasureOf(userId)).toMatchObject({ status: 'done' });
    } finally {
      for (const each of release) await each();
      await impatient.destroy();
    }
    await sweep();
    await cleanup();
    await sweep();
    for (const id of [waiting.userId, ended]) expect(await erasureOf(id)).toMatchObject({ status: 'done' });
  });

  it('keeps the job whose folder S3 does not empty, and goes on with the next user', async () => {
    const [first, second] = [await makeOwner(), await makeOwner()];
    for (const { userId } of [first, second]) await eraseUser(world.janitorDb, userId);
    await sweep();
    await cleanup();
    const userId = await eraseOwnerOfArchive();
    world.proxy.rule({ method: 'POST', path: /\?delete/ }, { kind: 'fail', status: 500 });
    expect(await sweep()).toMatchObject({ refused: 1, done: 2 });
    world.proxy.clear();
    expect(await erasureOf(userId)).toMatchObject({ status: 'at_work' });
    expect(await sweep()).toMatchObject({ refused: 0, removed: 1, done: 1 });
  });
});

/** The oldest erasure. */
async function eraseOwnerOfArchive(): Promise<string> {
  const userId = (await makeUsers(world.db, 1))[0]!.id;
  const [job] = await makeJobs(world.db, 1, { userId, status: 'completed' });
  await putKeys(world.store, [`${jobKeyPrefix(job!.id)}a.zip`]);
  await eraseUser(world.janitorDb, userId);
  await sql`UPDATE erasures SET created_at = now() - interval '1 day' WHERE user_id = ${userId}`.execute(
    world.db,
  );
  return userId;
}

/** Locks what the sweep changes: the execution of a job that is open, and a job that has ended. */
async function lockJobOf(userId: string, status: 'queued' | 'completed'): Promise<() => Promise<void>> {
  const job = world.db.selectFrom('jobs').where('user_id', '=', userId).where('status', '=', status);
  const { id } = await job.select('id').executeTakeFirstOrThrow();
  if (status === 'completed') return await lockRow(world.db, 'jobs', id);
  const execution = world.db.selectFrom('task_executions').where('subject_id', '=', id).select('id');
  return await lockRow(world.db, 'task_executions', (await execution.executeTakeFirstOrThrow()).id);
}

/** Its janitor dies instead of its nth statement. */
function dyingAt(statement: number): KyselyPlugin {
  let begun = 0;
  return {
    transformQuery: ({ node }) => {
      begun += 1;
      if (begun >= statement) throw new Error('killed');
      return node;
    },
    transformResult: ({ result }) => Promise.resolve(result),
  };
}
