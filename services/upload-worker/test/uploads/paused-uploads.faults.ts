import { afterAll, expect, it, jest } from '@jest/globals';
import { spawnService, type SpawnedProcess, urlOfService } from '@pasteflow/dev-stack/testing';
import { messageVisibilitySeconds } from '@pasteflow/domain';
import { pauseKind, resumeKind } from '@pasteflow/postgres';
import { makePastes } from '@pasteflow/postgres/testing';
import { createQueue, queueCounts, sendUploads } from '@pasteflow/sqs';
import { callSqs, until, useBench } from '../support/bench.ts';

const bench = useBench();
const QUEUE = 'paused-uploads';
const LEASE_SECONDS = 2;
const MAX_RECEIVES = 3;
const PASTES = 25;

jest.setTimeout(180_000); // processes start slowly on a busy machine

const workers: SpawnedProcess[] = [];
afterAll(() => Promise.all(workers.map((worker) => worker.stop())));

async function start(): Promise<SpawnedProcess> {
  const worker = spawnService({
    entry: new URL('../../src/main.ts', import.meta.url).pathname,
    name: 'upload-worker',
    env: {
      DATABASE_URL: urlOfService(bench.databaseUrl, 'upload-worker'),
      AWS_ENDPOINT_URL: bench.proxy.url,
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
      METRICS_PORT: '0',
      EXECUTION_LEASE_SECONDS: String(LEASE_SECONDS),
      UPLOAD_WORKER_QUEUES: 'uploads',
      UPLOAD_QUEUE_NAME: QUEUE,
    },
  });
  workers.push(worker);
  await worker.waitFor(/"message":"service started"/);
  return worker;
}

async function createQueues(): Promise<void> {
  const create = (name: string, Attributes: Record<string, string>) =>
    callSqs(bench.stack.aws.endpoint, 'CreateQueue', name, { QueueName: name, Attributes });
  const dead = `${QUEUE}-dead-letters`;
  await create(dead, {});
  const deadLetterTargetArn = `arn:aws:sqs:us-east-1:000000000000:${dead}`;
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn, maxReceiveCount: MAX_RECEIVES });
  await create(QUEUE, { RedrivePolicy });
}

const counts = (name: string) => queueCounts(bench.sqs, createQueue(bench.sqs, name));
const receives = () => bench.proxy.matching({ target: 'ReceiveMessage' }).length;

const executions = () =>
  bench.db.selectFrom('task_executions').select(['status', 'attempt', 'losses']).execute();

it('while uploads are paused, workers are killed and come back, and no message is spent; after the resume all are stored', async () => {
  await createQueues();
  const worker = await start();
  await until(
    () => Promise.resolve(receives()),
    (many) => many > 0,
  );
  const pastes = await makePastes(bench.db, PASTES, {
    status: 'IN_PROGRESS',
    execution: { status: 'PENDING', dispatchedSecondsAgo: 0 },
  });
  await pauseKind(bench.db, 'uploads', { actor: 'ops/test', reason: 'a test' });
  const queue = createQueue(bench.sqs, QUEUE);
  for (let n = 0; n < PASTES; n += 10)
    await sendUploads(
      bench.sqs,
      queue,
      pastes.slice(n, n + 10).map((paste) => ({ ...paste, content: null, context: {} })),
    );
  // The consumers that were in the middle of a long poll receive a batch each, and return it.
  await until(
    () => counts(QUEUE),
    ({ visible, inFlight }) => visible === PASTES && inFlight === 0,
  );
  worker.kill('SIGKILL');
  await worker.exited;
  bench.proxy.requests.length = 0;
  await Promise.all([start(), start()]);
  const pausedMs = (MAX_RECEIVES + 1) * messageVisibilitySeconds(LEASE_SECONDS) * 1000;
  await new Promise((resolve) => setTimeout(resolve, pausedMs));
  expect(receives()).toBe(0);
  expect(await counts(QUEUE)).toMatchObject({ visible: PASTES, inFlight: 0 });
  expect(new Set((await executions()).map(({ status }) => status))).toEqual(new Set(['PENDING']));

  await resumeKind(bench.db, 'uploads');
  await until(executions, (all) => all.every(({ status }) => status === 'SUCCEEDED'));
  expect(await executions()).toEqual(
    Array.from({ length: PASTES }, () => ({ status: 'SUCCEEDED', attempt: 1, losses: 0 })),
  );
  await until(
    () => counts(QUEUE),
    ({ visible, inFlight }) => visible + inFlight === 0,
  );
  expect(await counts(`${QUEUE}-dead-letters`)).toMatchObject({ visible: 0, inFlight: 0 });
});
