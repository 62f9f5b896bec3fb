import {
  createTestDatabase,
  FaultProxy,
  startTestStack,
  type TestStackWithAws,
} from '@pasteflow/dev-stack/testing';
import { defaultRetryPolicy } from '@pasteflow/domain';
import { createDatabase, type Database } from '@pasteflow/postgres';
import { makeUsers } from '@pasteflow/postgres/testing';
import { Metrics } from '@pasteflow/runtime';
import { createObjectStore, type ObjectStore } from '@pasteflow/s3';
import { createSqsClient, deadLetterQueueName, type Queue, type SqsClient } from '@pasteflow/sqs';
import { sql } from 'kysely';
import { createJobQueue } from '../src/queues/job-queue.ts';
import { createUploadQueue } from '../src/queues/upload-queue.ts';
import type { WorkQueue } from '../src/queues/work-queue.ts';
import { callSqs } from './messages.ts';
import { RecordingLogger } from './recording-logger.ts';

export const BUCKET = 'pasteflow';
export const UPLOADS = 'pasteflow-uploads';
export const JOBS = 'pasteflow-jobs';

process.env.AWS_ACCESS_KEY_ID = 'pasteflow';
process.env.AWS_SECRET_ACCESS_KEY = 'pasteflow';

/** What the sweeps work on: a real Postgres, and S3 and SQS behind a proxy that counts requests and injects faults. */
export interface World {
  readonly stack: TestStackWithAws;
  readonly proxy: FaultProxy;
  readonly databaseUrl: string;
  readonly db: Database;
  /** Through the proxy, as the janitor's own. */
  readonly store: ObjectStore;
  readonly sqs: SqsClient;
  readonly uploads: Queue;
  /** Uploads and jobs, as a janitor with defaults has them. */
  readonly queues: readonly WorkQueue[];
  /** The same on another database. */
  queuesOn(db: Database): readonly WorkQueue[];
  /** Whoever owns what is made. */
  readonly userId: string;
  readonly log: RecordingLogger;
  /** The environment of a janitor process in this world. */
  readonly env: Readonly<Record<string, string>>;
  /** Nothing in the tables, the bucket and the queues; no faults, no requests seen. */
  reset(): Promise<void>;
  stop(): Promise<void>;
}

export async function createWorld(): Promise<World> {
  const stack = await startTestStack({ aws: true });
  const proxy = await FaultProxy.start(stack.aws.endpoint);
  const database = await createTestDatabase(stack);
  const db = connect(database.url, 20);
  const aws = { region: stack.aws.region, endpoint: proxy.url };
  const store = createObjectStore({ ...aws, bucket: BUCKET, maxAttempts: 1, requestTimeoutMs: 7000 });
  const sqs = createSqsClient({ ...aws, requestTimeoutMs: 3000 });
  const log = new RecordingLogger();
  const queuesOn = (database: Database): readonly [WorkQueue, WorkQueue] => {
    const metrics = new Metrics('janitor', { process: false });
    const base = { db: database, sqs, policy: defaultRetryPolicy, logger: log, metrics };
    return [createUploadQueue({ ...base, queueName: UPLOADS }), createJobQueue({ ...base, queueName: JOBS })];
  };
  const queues = queuesOn(db);
  return {
    stack,
    proxy,
    databaseUrl: database.url,
    db,
    store,
    sqs,
    uploads: queues[0].queue,
    queues,
    queuesOn,
    userId: (await makeUsers(db, 1))[0]!.id,
    log,
    env: {
      DATABASE_URL: database.url,
      AWS_ENDPOINT_URL: proxy.url,
      AWS_REGION: stack.aws.region,
      AWS_ACCESS_KEY_ID: 'pasteflow',
      AWS_SECRET_ACCESS_KEY: 'pasteflow',
      METRICS_PORT: '0',
      LOG_LEVEL: 'debug',
    },
    reset: async () => {
      proxy.clear();
      await sql`TRUNCATE pastes, paste_payloads, jobs, assets, task_executions, state_transitions`.execute(
        db,
      );
      for await (const page of store.list('')) await store.deleteMany(page.map(({ key }) => key));
      for await (const page of store.listMultipartUploads(''))
        for (const upload of page) await store.abortMultipartUpload(upload);
      for (const name of [UPLOADS, JOBS].flatMap((queue) => [queue, deadLetterQueueName(queue)]))
        await callSqs(stack.aws.endpoint, 'PurgeQueue', name);
      proxy.requests.length = 0;
      log.lines.length = 0;
    },
    stop: async () => {
      await db.destroy();
      store.close();
      sqs.destroy();
      await proxy.stop();
      await stack.stop();
    },
  };
}

/** No statement may find its connection gone silently: a test then fails by its own assertion. */
export function connect(url: string, maxConnections = 5): Database {
  return createDatabase({
    url,
    applicationName: 'janitor-test',
    maxConnections,
    onConnectionError: () => {},
  });
}

export const running = (): AbortSignal => new AbortController().signal;

export async function eventually(check: () => Promise<boolean> | boolean, timeoutMs = 15_000): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await check())) {
    if (performance.now() > deadline) throw new Error('it did not come true in time');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

export async function deletionStates({ db }: World): Promise<Record<string, number>> {
  const { rows } = await sql<{ state: string; count: number }>`
    SELECT deletion_status AS state, count(*)::int FROM pastes GROUP BY 1`.execute(db);
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]));
}
