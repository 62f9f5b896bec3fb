import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { startCluster, startStack, type Cluster, type Service } from '../src/index.ts';

const JOBS = 10;
const ITEMS = 1000;
/** At most: each may cost a job an attempt, of which it has six, so that none can run out of them. */
const KILLS = 5;
/** At least; on a machine that is quick or busy the jobs may end before the last ones. */
const KILLS_IN_THE_MIDDLE = 3;

let cluster: Cluster;
beforeAll(async () => {
  const stack = await startStack();
  // Not through the proxies, which would cost more than what they stand in front of.
  cluster = await startCluster({
    stack,
    workers: 2,
    env: {
      JOB_CONCURRENCY: '1', // two jobs at any time, so that the ten take a while
      DATABASE_URL: stack.databaseUrl,
      AWS_ENDPOINT_URL_S3: stack.aws.endpoint,
      AWS_ENDPOINT_URL_SQS: stack.aws.endpoint,
    },
  });
}, 60_000);
afterAll(() => cluster.stop());

const sha256 = (text: string): string => `sha256:${createHash('sha256').update(text).digest('hex')}`;

/** What the job of this number is to make pastes of, all of it different. */
function contentsOf(job: number): string[] {
  return Array.from({ length: ITEMS }, (_, n) => `item ${n} of job ${job}`);
}

interface RunningJob {
  /** Undefined when all jobs have ended. */
  readonly worker: Service | undefined;
}

/** A worker that has a job which is neither just begun nor about to end; null: not at this moment. */
async function workerInTheMiddle(): Promise<RunningJob | null> {
  const open = await cluster.rows.query<{ worker_id: string | null; made: number }>(
    `SELECT worker_id, (SELECT count(*) FROM assets WHERE job_id = subject_id)::int AS made
     FROM task_executions WHERE kind = 'job' AND status IN ('PENDING', 'RUNNING')`,
  );
  if (open.length === 0) return { worker: undefined };
  const inTheMiddle = open.filter(({ made }) => made >= ITEMS * 0.1 && made <= ITEMS * 0.8);
  const worker = cluster.workers.find(({ pid }) =>
    inTheMiddle.some(({ worker_id }) => worker_id?.includes(`-${pid}-`)),
  );
  return worker === undefined ? null : { worker };
}

/** @returns how often */
async function killInTheMiddle(): Promise<number> {
  for (let kills = 0; kills < KILLS; kills += 1) {
    const running = await cluster.until(workerInTheMiddle, Boolean, { within: 60_000 });
    if (running?.worker === undefined) return kills;
    await running.worker.kill();
    await running.worker.start();
  }
  return KILLS;
}

it('imports 10,000 pastes by ten jobs exactly once, while workers are killed in the middle of them', async () => {
  const { userId, jobs } = await cluster.user('alice');
  const created = await Promise.all(
    Array.from({ length: JOBS }, async (_, job) => {
      const items = contentsOf(job).map((content) => ({ content }));
      return await jobs.create({ job_type: 'import', parameters: { items } });
    }),
  );
  const kills = await killInTheMiddle();
  expect(kills).toBeGreaterThanOrEqual(KILLS_IN_THE_MIDDLE);
  for (const { job_id } of created) {
    expect(await jobs.wait(job_id)).toMatchObject({
      status: 'completed',
      progress: 100,
      result: { imported: ITEMS, failed: 0 },
    });
  }
  await cluster.until(
    () => cluster.rows.query(`SELECT count(*)::int FROM pastes WHERE status = 'PROCESSED'`),
    ([row]) => row!.count === JOBS * ITEMS,
    { within: 120_000 },
  );

  const lost = await cluster.rows.query(
    `SELECT FROM task_executions WHERE kind = 'job' AND status = 'FAILED' AND error LIKE 'worker lost%'`,
  );
  expect(lost.length).toBeGreaterThanOrEqual(kills);
  const pastes = await cluster.rows.query<{ content_hash: string; user_id: string }>(
    'SELECT content_hash, user_id FROM pastes',
  );
  const wanted = Array.from({ length: JOBS }, (_, job) => contentsOf(job).map(sha256)).flat();
  expect(pastes.map(({ content_hash }) => content_hash).toSorted()).toEqual(wanted.toSorted());
  expect(new Set(pastes.map(({ user_id }) => user_id))).toEqual(new Set([userId]));
  const assets = await cluster.rows.query(
    `SELECT count(*)::int, count(DISTINCT storage_path)::int AS paths FROM assets GROUP BY job_id`,
  );
  expect(assets).toEqual(Array(JOBS).fill({ count: ITEMS, paths: ITEMS }));
  await cluster.expectQuiet({ within: 30_000 });
}, 300_000);
