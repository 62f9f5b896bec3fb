import { hash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { DEFAULT_REGION } from '@pasteflow/dev-stack';
import { createObjectStore } from '@pasteflow/s3';
import { Pool, type PoolClient } from 'pg';
import { randomText } from '../load.ts';

/** What the worker of each queue gets. */
interface PeerOptions {
  /** The folder in which the library is installed. */
  readonly folder: string;
  readonly databaseUrl: string;
  /** The work of a job. */
  readonly put: (text: string) => Promise<void>;
}

/** A queue in Postgres, as the benchmark uses it. */
interface PeerQueue {
  fill(texts: readonly string[]): Promise<void>;
  /** Works until it is stopped. Resolves to a function that stops when the ends of jobs are in Postgres. */
  work(): Promise<() => Promise<void>>;
}

/** As one upload-worker has them: UPLOAD_CONCURRENCY consumers of 10 messages, and DATABASE_POOL_SIZE. */
const CONSUMERS = 4;
const BATCH = 10;
const CONNECTIONS = 10;

/** As many jobs at a time as the others have. */
const JOBS_OF_A_LANE = (CONSUMERS * BATCH) / CONNECTIONS;
const PAUSE_MS = 100;

/**
 * The floor: what anybody would write first. Each connection locks rows, works and deletes them in one
 * transaction, which a crash rolls back.
 */
async function bareLoop({ databaseUrl, put }: Omit<PeerOptions, 'folder'>): Promise<PeerQueue> {
  const pool = new Pool({ connectionString: databaseUrl, max: CONNECTIONS });
  await pool.query('CREATE TABLE jobs (id bigserial PRIMARY KEY, text text NOT NULL)');
  return {
    fill: async (texts) =>
      void (await pool.query('INSERT INTO jobs (text) SELECT unnest($1::text[])', [texts])),
    work: async () => {
      const stop = new AbortController();
      const lanes = Array.from({ length: CONNECTIONS }, () => workUntil(pool, stop.signal, put));
      return async () => {
        stop.abort();
        await Promise.all(lanes);
      };
    },
  };
}

async function workUntil(pool: Pool, stop: AbortSignal, put: PeerOptions['put']): Promise<void> {
  const client = await pool.connect();
  while (!stop.aborted)
    if ((await workOnce(client, put)) === 0) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  client.release();
}

async function workOnce(client: PoolClient, put: PeerOptions['put']): Promise<number> {
  await client.query('BEGIN');
  const { rows } = await client.query<{ id: string; text: string }>({
    name: 'lock',
    text: 'SELECT id, text FROM jobs ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED',
    values: [JOBS_OF_A_LANE],
  });
  await Promise.all(rows.map(({ text }) => put(text)));
  const ids = rows.map(({ id }) => id);
  await client.query({ name: 'done', text: 'DELETE FROM jobs WHERE id = ANY ($1)', values: [ids] });
  await client.query('COMMIT');
  return rows.length;
}

interface Job {
  readonly text: string;
}

/** What is used of graphile-worker 0.18. */
interface GraphileLibrary {
  makeWorkerUtils(options: { preset: object }): Promise<{
    migrate(): Promise<void>;
    addJobs(jobs: readonly { identifier: string; payload: Job }[]): Promise<unknown>;
  }>;
  run(options: {
    preset: object;
    taskList: { put: (job: Job) => Promise<void> };
  }): Promise<{ stop(): Promise<void> }>;
  readonly Logger: new (factory: () => () => void) => unknown;
}

/**
 * With the settings of the fastest run in its documentation ("Performance"): a local queue of 500, and ends
 * in batches without delay. Its starting point of 250 ms waits for up to 250 ms at the end.
 */
async function graphileWorker({ folder, databaseUrl, put }: PeerOptions): Promise<PeerQueue> {
  const library = createRequire(join(folder, 'package.json'))('graphile-worker') as GraphileLibrary;
  const preset = {
    worker: {
      connectionString: databaseUrl,
      concurrentJobs: CONSUMERS * BATCH,
      maxPoolSize: CONNECTIONS,
      localQueue: { size: 500 },
      completeJobBatchDelay: 0,
      failJobBatchDelay: 0,
      logger: new library.Logger(() => () => {}), // it would write a line for each job
    },
  };
  const utils = await library.makeWorkerUtils({ preset });
  await utils.migrate();
  return {
    fill: async (texts) =>
      void (await utils.addJobs(texts.map((text) => ({ identifier: 'put', payload: { text } })))),
    work: async () => {
      const runner = await library.run({ preset, taskList: { put: ({ text }) => put(text) } });
      return () => runner.stop();
    },
  };
}

/** What is used of pg-boss 12. */
interface PgBossLibrary {
  readonly PgBoss: new (options: { connectionString: string; max: number }) => {
    on(event: 'error', listener: (error: unknown) => void): void;
    start(): Promise<unknown>;
    createQueue(name: string): Promise<void>;
    insert(name: string, jobs: readonly { data: Job }[]): Promise<unknown>;
    work(
      name: string,
      options: object,
      handler: (jobs: readonly { data: Job }[]) => Promise<unknown>,
    ): Promise<unknown>;
    offWork(name: string): Promise<void>;
  };
}

/**
 * With what its documentation says makes a worker fetch and work faster ("Workers", "Fetching jobs"): batches,
 * several workers in the process, the next fetch at once after a full batch, and no order.
 */
const FAST = {
  batchSize: BATCH,
  localConcurrency: CONSUMERS,
  pollingIntervalSeconds: 0.5,
  burstWhenBatchFull: true,
  priority: false,
  orderByCreatedOn: false,
};

async function pgBoss({ folder, databaseUrl, put }: PeerOptions): Promise<PeerQueue> {
  const { PgBoss } = createRequire(join(folder, 'package.json'))('pg-boss') as PgBossLibrary;
  const boss = new PgBoss({ connectionString: databaseUrl, max: CONNECTIONS });
  boss.on('error', (error) => process.stderr.write(`${String(error)}\n`));
  await boss.start();
  await boss.createQueue('put');
  return {
    fill: async (texts) => {
      await boss.insert(
        'put',
        texts.map((text) => ({ data: { text } })),
      );
    },
    work: async () => {
      await boss.work('put', FAST, (jobs) => Promise.all(jobs.map(({ data }) => put(data.text))));
      return () => boss.offWork('put');
    },
  };
}

/**
 * Works on jobs that each put 2 KB into S3, from the queue of a library, first to warm up and then, on
 * SIGUSR2, to be measured. Arguments: the library, the folder in which it is installed, database URL,
 * endpoint, bucket, jobs to warm up, jobs.
 */
const [name, folder = '', databaseUrl = '', endpoint = '', bucket = '', warmUp, count] =
  process.argv.slice(2);

const store = createObjectStore({
  region: DEFAULT_REGION,
  endpoint,
  bucket,
  maxAttempts: 1,
  requestTimeoutMs: 10_000,
  requests: 'direct',
});
let left = 0;
let allPut = Promise.withResolvers<void>();

async function put(text: string): Promise<void> {
  const content = Buffer.from(text);
  await store.put(`bench/${randomUUID()}`, content, { sha256: hash('sha256', content, 'buffer') });
  left -= 1;
  if (left === 0) allPut.resolve();
}

const libraries = { 'graphile-worker': graphileWorker, 'pg-boss': pgBoss, 'skip-locked': bareLoop };
const queue = await libraries[name as keyof typeof libraries]({ folder, databaseUrl, put });

async function fill(jobs: number): Promise<void> {
  left = jobs;
  allPut = Promise.withResolvers();
  await queue.fill(Array.from({ length: jobs }, randomText));
}

await fill(Number(warmUp));
const stop = await queue.work();
await allPut.promise;
await stop();

await fill(Number(count));
const begin = once(process, 'SIGUSR2');
const idle = setInterval(() => {}, 60_000); // a process with nothing but a listener for a signal would end
process.stdout.write('filled\n');
await begin;
clearInterval(idle);
await queue.work();
