import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import {
  createTestDatabase,
  FaultProxy,
  startSharedTestStack,
  type SharedTestStack,
  urlOfService,
  UNSAFE_POSTGRES,
} from '@pasteflow/dev-stack/testing';
import { createPaste, type Database } from '@pasteflow/postgres';
import { createLogger, Lifecycle, loadConfig, Metrics, Readiness, tracingOff } from '@pasteflow/runtime';
import { createQueue, createSqsClient, sendUploads } from '@pasteflow/sqs';
import { compose } from '../../src/compose.ts';
import { configSchema } from '../../src/config.ts';
import { newPaste, openDatabase } from '../support/database.ts';

/**
 * Counts the table "Cost of a paste" of docs/performance.md, for 100 pastes that one consumer uploads in full
 * batches.
 */
const PASTES = 100;
const BATCHES = PASTES / 10;

jest.setTimeout(300_000); // 100 uploads on a busy machine

let stack: SharedTestStack;
let proxy: FaultProxy;
let db: Database;
let url: string;

beforeAll(async () => {
  process.env.AWS_ACCESS_KEY_ID = 'test';
  process.env.AWS_SECRET_ACCESS_KEY = 'test';
  stack = await startSharedTestStack();
  proxy = await FaultProxy.start(stack.aws.endpoint);
  ({ url } = await createTestDatabase(stack));
  db = openDatabase(url);
});

afterAll(async () => {
  await db?.destroy();
  await proxy?.stop();
  await stack?.stop();
});

async function createWaitingUploads(): Promise<void> {
  const client = createSqsClient({ region: 'us-east-1', endpoint: stack.aws.endpoint });
  const queue = createQueue(client, 'pasteflow-uploads');
  for (let batch = 0; batch < BATCHES; batch++) {
    const uploads = [];
    for (let n = 0; n < 10; n++) {
      const content = Buffer.from(`paste ${batch}.${n}`);
      const shortCode = `cost${batch}x${n}`;
      const paste = await createPaste(db, newPaste(shortCode, content));
      uploads.push({ executionId: paste!.executionId, shortCode, content, context: {} });
    }
    await sendUploads(client, queue, uploads);
  }
  client.destroy();
}

it('ten uploads cost one claim, one settlement, one receive, one delete, and one put each', async () => {
  await createWaitingUploads();
  const statements: string[] = [];
  const config = loadConfig(configSchema, {
    ...UNSAFE_POSTGRES,
    DATABASE_URL: urlOfService(url, 'upload-worker'),
    AWS_ENDPOINT_URL: proxy.url,
    METRICS_PORT: '0',
    UPLOAD_CONCURRENCY: '1',
    EXECUTION_LEASE_SECONDS: '3600', // no heartbeat during the measurement, however long it takes
    LOG_LEVEL: 'error',
    UPLOAD_WORKER_QUEUES: 'uploads',
  });
  const logger = createLogger({ ...config.log, service: 'upload-worker' });
  const context = {
    name: 'upload-worker',
    instance: 'upload-worker/test',
    config,
    logger,
    tracing: tracingOff,
    fail: () => {},
  };
  const worker = new Lifecycle(
    compose(
      { ...context, metrics: new Metrics('upload-worker', { process: false }), readiness: new Readiness() },
      // A group closes only when its batch is complete, so that the counts don't depend on the speed of the
      // machine.
      { onStatement: ({ query }) => statements.push(query.sql), settleLingerMs: 60_000 },
    ),
    logger,
  );
  await worker.start();
  await untilProcessed();
  await worker.stop();

  const withTable = (table: string) => statements.filter((statement) => statement.includes(table));
  expect(withTable('asked AS MATERIALIZED')).toHaveLength(BATCHES);
  expect(withTable('ending AS MATERIALIZED')).toHaveLength(BATCHES);
  // The start of the worker checks the bucket's owner, taking the empty bucket, its own role, the
  // settings of Postgres, and whether uploads are paused.
  expect(withTable('FROM installation')).toHaveLength(1);
  expect(withTable('FROM pg_roles')).toHaveLength(1);
  expect(withTable('current_setting(name)')).toHaveLength(1);
  expect(withTable('SELECT kind FROM work_kinds WHERE paused_at IS NOT NULL ORDER')).toHaveLength(1);
  expect(proxy.matching({ method: 'PUT', path: /pasteflow-owner/ })).toHaveLength(1);
  expect(statements).toHaveLength(2 * BATCHES + 4);
  expect(proxy.matching({ method: 'PUT' })).toHaveLength(PASTES + 1);
  expect(proxy.matching({ target: 'DeleteMessageBatch' })).toHaveLength(BATCHES);
  // One receive for each batch, and at most two that found the queue empty.
  expect(proxy.matching({ target: 'ReceiveMessage' }).length - BATCHES).toBeLessThanOrEqual(2);
});

async function untilProcessed(): Promise<void> {
  const deadline = performance.now() + 270_000;
  for (;;) {
    const left = await db.selectFrom('pastes').select('id').where('status', '<>', 'PROCESSED').execute();
    if (left.length === 0) return;
    if (performance.now() > deadline) throw new Error(`${left.length} pastes were not processed`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
