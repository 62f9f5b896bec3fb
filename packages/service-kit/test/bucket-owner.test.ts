import { createTestDatabase, FaultProxy, startTestStack, type TestStack } from '@pasteflow/dev-stack/testing';
import { BUCKET_OWNER_KEY } from '@pasteflow/domain';
import { createDatabase, type Database } from '@pasteflow/postgres';
import { ConfigError, createLogger } from '@pasteflow/runtime';
import { createObjectStore, type ObjectStore } from '@pasteflow/s3';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import {
  adoptBucket,
  BucketOwnership,
  BucketOwnerError,
  checkBucketOwner,
  countBucket,
} from '../src/index.ts';

process.env.AWS_ACCESS_KEY_ID = 'pasteflow';
process.env.AWS_SECRET_ACCESS_KEY = 'pasteflow';

let stack: TestStack;
let proxy: FaultProxy;
let db: Database;
let otherDb: Database;
let store: ObjectStore;
const ids = { db: '', otherDb: '' };
beforeAll(async () => {
  stack = await startTestStack();
  proxy = await FaultProxy.start(stack.aws.endpoint);
  [db, otherDb] = await Promise.all([open(), open()]);
  // Test databases are copies of one template, and a copy has the identity of its original.
  await sql`UPDATE installation SET id = gen_random_uuid()`.execute(otherDb);
  ids.db = await idOf(db);
  ids.otherDb = await idOf(otherDb);
  store = createObjectStore({
    bucket: 'pasteflow',
    region: stack.aws.region,
    endpoint: proxy.url,
    maxAttempts: 1,
    requestTimeoutMs: 5000,
  });
});
afterAll(async () => {
  store.close();
  await Promise.all([db.destroy(), otherDb.destroy()]);
  await proxy.stop();
  await stack.stop();
});
beforeEach(async () => {
  proxy.clear();
  for await (const page of store.list('')) await store.deleteMany(page.map(({ key }) => key));
});

async function open(): Promise<Database> {
  const { url } = await createTestDatabase(stack);
  return createDatabase({
    url,
    applicationName: 'bucket-owner-test',
    maxConnections: 3,
    onConnectionError: () => {},
  });
}

async function idOf(database: Database): Promise<string> {
  return (await database.selectFrom('installation').select('id').executeTakeFirstOrThrow()).id;
}

const check = (database = db) => checkBucketOwner({ db: database, store, actor: 'test/1' });
const putText = (key: string) => store.writeText(key, 'x', { onlyIfAbsent: false });
const keys = async () => {
  const found: string[] = [];
  for await (const page of store.list('')) found.push(...page.map(({ key }) => key));
  return found;
};

describe('checkBucketOwner', () => {
  it('takes an empty bucket, and passes from then on', async () => {
    await check();
    await putText('pastes/abc');
    await check();
    const { text } = await store.readText(BUCKET_OWNER_KEY);
    expect(JSON.parse(text ?? '')).toEqual({
      installation_id: ids.db,
      owned_since: expect.any(String),
      written_by: 'test/1',
    });
  });

  it('returns the times of both clocks', async () => {
    const { databaseTime, storeTime } = await check();
    expect(Math.abs(databaseTime.getTime() - (storeTime?.getTime() ?? NaN))).toBeLessThan(60_000);
  });

  it('refuses the bucket of another database, and names both, the bucket and the command that adopts it', async () => {
    await check(otherDb);
    const error = await check().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(BucketOwnerError);
    expect(error).toBeInstanceOf(ConfigError);
    for (const part of [ids.db, ids.otherDb, 'S3_BUCKET is pasteflow', 'npm run ops -- adopt-bucket'])
      expect((error as Error).message).toContain(part);
  });

  it.each(['pastes/abc', 'jobs/abc/export.zip'])(
    'refuses a bucket that holds %s and names no owner',
    async (key) => {
      await putText(key);
      await expect(check()).rejects.toThrow(`names no owner. The database is ${ids.db}`);
      expect(await keys()).toEqual([key]);
    },
  );

  it('refuses an owner that it cannot read', async () => {
    await store.writeText(BUCKET_OWNER_KEY, '<html>', { onlyIfAbsent: false });
    await expect(check()).rejects.toThrow('belongs to the database unreadable: "<html>"');
  });

  it('leaves at most one of two databases that take the bucket at once', async () => {
    const held = proxy.hold({ method: 'PUT', path: /pasteflow-owner/ });
    const late = check();
    const put = await held;
    await check(otherDb);
    await put.forward();
    const outcomes = await Promise.allSettled([late, check(otherDb)]);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('fails with an unavailable dependency, not with a mismatch, when S3 does not answer', async () => {
    proxy.rule({}, { kind: 'fail', status: 503 });
    const error = await check().catch((reason: unknown) => reason);
    expect(error).toMatchObject({ name: 'DependencyUnavailableError' });
  });
});

describe('BucketOwnership', () => {
  const silent = () => createLogger({ level: 'error', format: 'json', service: 'test', instance: 'test/1' });
  const ownership = (database = db) => {
    const mismatches: unknown[] = [];
    const logger = silent();
    const owner = new BucketOwnership({ db: database, store, actor: 'test/1', logger }, (error) =>
      mismatches.push(error),
    );
    return { owner, mismatches };
  };

  it('does not start with the bucket of another database', async () => {
    await check(otherDb);
    const { owner } = ownership();
    await expect(owner.start()).rejects.toBeInstanceOf(BucketOwnerError);
    await owner.stop();
  });

  it('starts while S3 does not answer, is not ready, and verifies the owner when S3 is back', async () => {
    proxy.rule({}, { kind: 'fail', status: 503 });
    const { owner } = ownership();
    await owner.start();
    await expect(owner.requireVerified()).rejects.toThrow('not been verified');
    proxy.clear();
    await owner.waitUntilVerified();
    await owner.requireVerified();
    await owner.stop();
  });

  it('stops the service when S3 comes back with the bucket of another database', async () => {
    await check(otherDb);
    proxy.rule({}, { kind: 'fail', status: 503 });
    const { owner, mismatches } = ownership();
    await owner.start();
    proxy.clear();
    const deadline = performance.now() + 60_000;
    while (mismatches.length === 0 && performance.now() < deadline)
      await new Promise((resolve) => setTimeout(resolve, 20));
    expect(mismatches).toEqual([expect.any(BucketOwnerError)]);
    await owner.stop();
  });
});

describe('adoptBucket', () => {
  it('counts what this database knows, gives it the bucket, and records who did so', async () => {
    await check(otherDb);
    await putText('pastes/abc');
    const contents = await countBucket(db, store);
    expect(contents).toEqual({
      bucket: 'pasteflow',
      installationId: ids.db,
      owner: ids.otherDb,
      found: 1,
      known: 0,
    });
    await adoptBucket({ db, store, adoptedBy: 'ops/me' }, contents);
    await check();
    await expect(check(otherDb)).rejects.toBeInstanceOf(BucketOwnerError);
    expect(await db.selectFrom('bucket_adoptions').selectAll().execute()).toEqual([
      {
        at: expect.any(Date),
        bucket: 'pasteflow',
        previous_owner: ids.otherDb,
        adopted_by: 'ops/me',
        objects_found: '1',
        objects_known: '0',
      },
    ]);
  });
});
