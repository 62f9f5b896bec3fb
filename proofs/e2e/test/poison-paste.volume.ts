import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { metricOf } from '@pasteflow/dev-stack/testing';
import { runOps, startCluster, type Cluster, type Service } from '../src/index.ts';

const LEASE_SECONDS = 2;

/** A worker that the content of the poison kills. */
const MORTAL = {
  NODE_OPTIONS: `--import=${fileURLToPath(new URL('fixtures/die-of-poison.ts', import.meta.url))}`,
  UPLOAD_WORKER_QUEUES: 'uploads',
  UPLOAD_CONCURRENCY: '1', // all content that the queue has comes in one batch
};

/**
 * Liveness only: the waits add up to half a minute, and a busy machine needs as long for each start of the
 * worker.
 */
const SLOW = { within: 300_000 };
jest.setTimeout(600_000);

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster({
    workers: 0,
    env: { EXECUTION_LEASE_SECONDS: String(LEASE_SECONDS), SWEEP_INTERVALS: 'state-metrics=0.2' },
  });
});
afterAll(async () => {
  await stopWorker();
  await cluster.stop();
});

let supervised: Service | null = null;
let supervision = Promise.resolve();

/** Starts the worker whenever it has died, as an orchestrator does. */
function keepRunning(worker: Service): void {
  supervised = worker;
  supervision = (async () => {
    while (supervised !== null) {
      await worker.exited;
      if (supervised !== null) await worker.start().catch(() => {}); // it may die before it has logged its start
    }
  })();
}

async function stopWorker(): Promise<void> {
  const worker = supervised;
  supervised = null;
  await worker?.kill();
  await supervision;
}

const post = async (content: string) => (await cluster.client().pastes.create(content)).short_code;
const mates = (count: number, name: string) =>
  Promise.all(Array.from({ length: count }, (_, n) => post(`${name} ${n}`)));
const lossesOf = async (code: string) =>
  Math.max(...(await cluster.executions(code)).map(({ losses }) => losses));
const lostWork = () => metricOf(cluster.janitors[0]!, 'pasteflow_lost_work', { kind: 'upload' });

/** Waits until an attempt is due that no worker runs. @returns the losses so far */
async function untilDue(code: string): Promise<number> {
  const executions = await cluster.until(
    () => cluster.executions(code),
    (all) => all.at(-1)!.status === 'PENDING' && all.at(-1)!.run_at <= new Date(),
    SLOW,
  );
  return executions.at(-1)!.losses;
}

/** Executions of others that were lost in a process in which the poison was lost as a suspect. */
const lostTogetherWith = (code: string) =>
  cluster.rows.query(
    `SELECT other.* FROM pastes p
       JOIN task_executions lost ON lost.subject_id = p.id AND lost.losses >= 2 AND lost.error LIKE 'worker lost%'
       JOIN task_executions other ON other.worker_id = lost.worker_id AND other.id <> lost.id AND other.error LIKE 'worker lost%'
     WHERE p.short_code = $1`,
    [code],
  );

/**
 * Each loss spends no attempt. The next attempt is due 1, 2, 4 … s after the end of the lease, which was at
 * most renewed.
 */
async function expectGrowingWaits(code: string): Promise<void> {
  const executions = await cluster.executions(code);
  expect(executions.length).toBeGreaterThan(4);
  for (const [n, lost] of executions.slice(0, -1).entries()) {
    const next = executions[n + 1]!;
    expect(lost).toMatchObject({ attempt: 1, losses: n, error: `worker lost: ${lost.worker_id}` });
    expect(next).toMatchObject({ attempt: 1, losses: n + 1 });
    const secondsAfter = (time: Date | null) => (next.run_at.getTime() - time!.getTime()) / 1000;
    expect(secondsAfter(lost.started_at) - LEASE_SECONDS).toBeGreaterThanOrEqual(2 ** n);
    expect(secondsAfter(lost.finished_at)).toBeLessThanOrEqual(2 ** n);
  }
}

it('a paste that kills each worker that uploads it costs no other paste more than two losses, is reported, and is stored once a worker survives it', async () => {
  const first = await mates(4, 'before');
  const poison = await post('This paste kills the worker that uploads it.');
  const others = [...first, ...(await mates(4, 'after'))];
  const worker = await cluster.add('upload-worker', MORTAL).catch(() => cluster.workers[0]!);
  keepRunning(worker);

  for (const code of others) {
    await cluster.untilStatus(code, 'PROCESSED', SLOW);
    expect(await lossesOf(code)).toBeLessThanOrEqual(2);
  }
  await cluster.until(
    () => lossesOf(poison),
    (losses) => losses >= 2,
    SLOW,
  );
  await stopWorker();

  const losses = await untilDue(poison);
  const late = await mates(4, 'late');
  await cluster.until(
    () => cluster.queues.counts('uploads'),
    ({ visible }) => visible > late.length,
    SLOW,
  );
  keepRunning(worker); // it receives the poison and the others together
  await cluster.until(
    () => lossesOf(poison),
    (now) => now > losses,
    SLOW,
  );
  for (const code of late) {
    await cluster.untilStatus(code, 'PROCESSED');
    expect(await cluster.executions(code)).toMatchObject([{ losses: 0, status: 'SUCCEEDED' }]);
  }
  await cluster.until(lostWork, (count) => count === 1, SLOW);
  await stopWorker();
  expect(await lostTogetherWith(poison)).toEqual([]);

  const status = JSON.parse(await runOps(cluster, 'status', '--json')) as { lost: object[] };
  expect(status.lost).toMatchObject([{ kind: 'upload', subject: poison }]);
  const errors = cluster.janitors[0]!.log.filter(({ level }) => level === 'error');
  expect(errors[0]).toMatchObject({ message: 'uploads lost more than 3 times', short_codes: [poison] });
  await expectGrowingWaits(poison);

  await cluster.add('upload-worker');
  await cluster.untilStatus(poison, 'PROCESSED', SLOW);
  expect((await cluster.executions(poison)).at(-1)).toMatchObject({ attempt: 1, status: 'SUCCEEDED' });
  await cluster.expectQuiet();
  await cluster.until(lostWork, (count) => count === 0);
});
