import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import {
  createTestDatabase,
  FaultProxy,
  startSharedTestStack,
  startTestStack,
  urlOfService,
  type SharedTestStack,
  type TestStack,
} from '@pasteflow/dev-stack/testing';
import { checkBucketOwner } from '@pasteflow/service-kit';
import { BUCKET_OWNER_KEY, defaultRetryPolicy, MAX_JOB_LOSSES } from '@pasteflow/domain';
import { createDatabase, createWebhook, type Database } from '@pasteflow/postgres';
import { makeUsers, removeRows } from '@pasteflow/postgres/testing';
import { Metrics } from '@pasteflow/runtime';
import { createObjectStore, type ObjectStore } from '@pasteflow/s3';
import { createSqsClient, deadLetterQueueName, type Queue, type SqsClient } from '@pasteflow/sqs';
import { sql } from 'kysely';
import { createDeliveries, createJobQueue, createUploadQueue } from '../src/sweeps/queues/queues.ts';
import type { SweptWork, WorkQueue } from '../src/sweeps/queues/work-queue.ts';
import { callSqs } from './messages.ts';
import { RecordingLogger } from './recording-logger.ts';

export const BUCKET = 'pasteflow';
export const UPLOADS = 'pasteflow-uploads';
export const JOBS = 'pasteflow-jobs';

/** On a busy machine an answer takes seconds, and a request that is repeated too early has its effect twice. */
const PATIENCE_MS = 60_000;

process.env.AWS_ACCESS_KEY_ID = 'pasteflow';
process.env.AWS_SECRET_ACCESS_KEY = 'pasteflow';

/**
 * The dependencies of the sweeps: a real Postgres, and S3 and SQS behind a proxy that records requests and
 * injects faults.
 */
export interface World<Stack extends SharedTestStack = SharedTestStack> {
  readonly stack: Stack;
  readonly proxy: FaultProxy;
  readonly databaseUrl: string;
  /** As the superuser, for the tests' own statements. */
  readonly db: Database;
  /** As the janitor's role, for the sweeps. */
  readonly janitorDb: Database;
  /** Through the proxy, with the settings of the janitor. */
  readonly store: ObjectStore;
  readonly sqs: SqsClient;
  readonly uploads: Queue;
  /** The queues of uploads and jobs, with the default settings of the janitor. */
  readonly queues: readonly WorkQueue[];
  /** The same queues with another database. */
  queuesOn(db: Database): readonly WorkQueue[];
  /** The queues, and the deliveries of webhooks. */
  readonly work: readonly SweptWork[];
  /** The owner of the jobs of a test. */
  readonly userId: string;
  readonly log: RecordingLogger;
  /** The environment for a janitor process. */
  readonly env: Readonly<Record<string, string>>;
  /** Empties the tables, the bucket and the queues, and forgets faults and recorded requests. */
  reset(): Promise<void>;
  stop(): Promise<void>;
}

/** The world of a test file, which is emptied before each test. */
export function useWorld(): World {
  const world = {} as World;
  beforeAll(async () => {
    Object.assign(world, await createWorld());
  });
  afterAll(() => world.stop());
  beforeEach(() => world.reset());
  return world;
}

/** In the Postgres that the files of this service share. */
export async function createWorld(): Promise<World> {
  return await createWorldOn(await startSharedTestStack());
}

/**
 * In a Postgres of the file's own: for tests that stop it, or measure transitions, which an open transaction
 * of another database delays.
 */
export async function createWorldWithPostgres(): Promise<World<TestStack>> {
  return await createWorldOn(await startTestStack());
}

async function createWorldOn<Stack extends SharedTestStack>(stack: Stack): Promise<World<Stack>> {
  const proxy = await FaultProxy.start(stack.aws.endpoint);
  const database = await createTestDatabase(stack);
  const db = connect(database.url, 20);
  const janitorDb = connect(urlOfService(database.url, 'janitor'), 20);
  const aws = { region: stack.aws.region, endpoint: proxy.url };
  const store = createObjectStore({ ...aws, bucket: BUCKET, maxAttempts: 1, requestTimeoutMs: PATIENCE_MS });
  const sqs = createSqsClient({ ...aws, requestTimeoutMs: PATIENCE_MS });
  const log = new RecordingLogger();
  const queuesOn = (database: Database): readonly [WorkQueue, WorkQueue] => {
    const metrics = new Metrics('janitor', { process: false });
    const base = { db: database, sqs, logger: log, metrics };
    const jobPolicy = { ...defaultRetryPolicy, maxLosses: MAX_JOB_LOSSES };
    return [createUploadQueue(base, UPLOADS, defaultRetryPolicy), createJobQueue(base, JOBS, jobPolicy)];
  };
  const queues = queuesOn(janitorDb);
  await checkBucketOwner({ db: janitorDb, store, actor: 'janitor/test' });
  return {
    stack,
    proxy,
    databaseUrl: database.url,
    db,
    janitorDb,
    store,
    sqs,
    uploads: queues[0].queue,
    queues,
    queuesOn,
    work: [
      ...queues,
      createDeliveries({ db: janitorDb, logger: log, metrics: new Metrics('janitor', { process: false }) }),
    ],
    userId: (await makeUsers(db, 1))[0]!.id,
    log,
    env: {
      DATABASE_URL: urlOfService(database.url, 'janitor'),
      AWS_ENDPOINT_URL: proxy.url,
      AWS_REGION: stack.aws.region,
      AWS_ACCESS_KEY_ID: 'pasteflow',
      AWS_SECRET_ACCESS_KEY: 'pasteflow',
      METRICS_PORT: '0',
      LOG_LEVEL: 'debug',
    },
    reset: async () => {
      proxy.clear();
      await removeRows(db, ['users']);
      // The bucket is listed once, because each list takes milliseconds of CPU time, before every test. The
      // object that names the owner stays.
      for await (const page of store.list(''))
        await store.deleteMany(page.map(({ key }) => key).filter((key) => key !== BUCKET_OWNER_KEY));
      for await (const page of store.listMultipartUploads(''))
        for (const upload of page) await store.abortMultipartUpload(upload);
      for (const name of [UPLOADS, JOBS].flatMap((queue) => [queue, deadLetterQueueName(queue)]))
        await callSqs(stack.aws.endpoint, 'PurgeQueue', name);
      proxy.requests.length = 0;
      log.lines.length = 0;
    },
    stop: async () => {
      await Promise.all([db.destroy(), janitorDb.destroy()]);
      store.close();
      sqs.destroy();
      await proxy.stop();
      await stack.stop();
    },
  };
}

/** Lost connections are ignored here: the statement that needs one fails in its test. */
export function connect(url: string, maxConnections = 5): Database {
  return createDatabase({
    url,
    applicationName: 'janitor-test',
    maxConnections,
    connectTimeoutMs: PATIENCE_MS,
    onConnectionError: () => {},
  });
}

export const running = (): AbortSignal => new AbortController().signal;

export async function eventually(check: () => Promise<boolean> | boolean): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!(await check())) {
    if (performance.now() > deadline) throw new Error('The condition was not met in time.');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

export async function deletionStates({ db }: World): Promise<Record<string, number>> {
  const { rows } = await sql<{ state: string; count: number }>`
    SELECT deletion_status AS state, count(*)::int FROM pastes GROUP BY 1`.execute(db);
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]));
}

/** Of any paste. */
export async function makeReport(db: Database, secondsAgo: number): Promise<void> {
  await sql`
    INSERT INTO paste_reports (paste_id, content_hash, class, reporter, created_at)
    SELECT id, content_hash, 'spam', sha256('a'), now() - make_interval(secs => ${secondsAgo}) FROM pastes LIMIT 1`.execute(
    db,
  );
}

/** @returns the id of an endpoint of a webhook */
export async function makeEndpoint(db: Database, userId: string): Promise<string> {
  const endpoint = await createWebhook(db, {
    userId,
    url: 'https://hooks.example.com/secret',
    events: ['paste.stored'],
  });
  if (endpoint === null) throw new Error('the user has ten endpoints');
  return endpoint.id;
}
