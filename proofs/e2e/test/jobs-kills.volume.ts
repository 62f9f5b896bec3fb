import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { startCluster, startStack, type Cluster, type Service } from '../src/index.ts';

const JOBS = 8;
const ITEMS_PER_JOB = 300;
/** A job ends at its sixth loss, so at most 5 kills cannot end one. */
const MAX_KILLS = 5;
/** The jobs may end before the last kill, and a statement that the worker has sent may still end its job. */
const MIN_LOST = 3;

let cluster: Cluster;
beforeAll(async () => {
  const stack = await startStack();
  // Without the proxies, which would need more CPU time than Postgres, S3 and SQS.
  cluster = await startCluster({
    stack,
    workers: 2,
    env: {
      JOB_CONCURRENCY: '1', // two jobs at the same time, so that the jobs take longer
      DATABASE_URL: stack.databaseUrl,
      AWS_ENDPOINT_URL_S3: stack.aws.s3,
      AWS_ENDPOINT_URL_SQS: stack.aws.sqs,
    },
  });
});
afterAll(() => cluster.stop());

/** The contents of the pastes that this job imports. All are different. */
function contentsOf(job: number): string[] {
  return Array.from({ length: ITEMS_PER_JOB }, (_, n) => `item ${n} of job ${job}`);
}

interface RunningJob {
  /** Undefined when all jobs have ended. */
  readonly worker: Service | undefined;
}

/** A worker that is in the middle of a job. Null: there is none at the moment. */
async function workerInTheMiddle(): Promise<RunningJob | null> {
  const open = await cluster.rows.query<{ worker_id: string | null; made: number }>(
    `SELECT worker_id, (SELECT count(*) FROM assets WHERE job_id = subject_id)::int AS made
     FROM task_executions WHERE kind = 'job' AND status IN ('PENDING', 'RUNNING')`,
  );
  if (open.length === 0) return { worker: undefined };
  const inTheMiddle = open.filter(({ made }) => made >= ITEMS_PER_JOB * 0.1 && made <= ITEMS_PER_JOB * 0.8);
  const worker = cluster.workers.find(({ pid }) =>
    inTheMiddle.some(({ worker_id }) => worker_id?.includes(`-${pid}-`)),
  );
  return worker === undefined ? null : { worker };
}

/**
 * Kills the worker, if it still runs a job when it is frozen. A job yields often while many uploads are open, and
 * a worker between two jobs loses none.
 * @returns whether the worker has been killed
 */
async function killWithItsJob(worker: Service): Promise<boolean> {
  worker.signal('SIGSTOP');
  const lost = await cluster.rows.query(
    // The lock waits for a statement of the worker that Postgres has begun.
    `SELECT FROM task_executions WHERE kind = 'job' AND status = 'RUNNING' AND worker_id LIKE $1 FOR UPDATE`,
    [`%-${worker.pid}-%`],
  );
  if (lost.length === 0) {
    worker.signal('SIGCONT');
    return false;
  }
  await worker.kill();
  await worker.start();
  return true;
}

async function killInTheMiddle(): Promise<void> {
  for (let kills = 0; kills < MAX_KILLS;) {
    const running = await cluster.until(workerInTheMiddle, Boolean, { within: 60_000 });
    if (running?.worker === undefined) return;
    if (await killWithItsJob(running.worker)) kills += 1;
  }
}

it(`imports ${JOBS * ITEMS_PER_JOB} pastes by ${JOBS} jobs exactly once, while workers are killed in the middle of them`, async () => {
  const { userId, jobs } = await cluster.user('alice');
  const created = await Promise.all(
    Array.from({ length: JOBS }, async (_, job) => {
      const items = contentsOf(job).map((content) => ({ content }));
      return await jobs.create({ job_type: 'import', parameters: { items } });
    }),
  );
  await killInTheMiddle();
  for (const { job_id } of created) {
    expect(await jobs.wait(job_id)).toMatchObject({
      status: 'completed',
      progress: 100,
      result: { imported: ITEMS_PER_JOB, failed: 0 },
    });
  }
  await cluster.until(
    () => cluster.rows.query(`SELECT count(*)::int FROM pastes WHERE status = 'PROCESSED'`),
    ([row]) => row!.count === JOBS * ITEMS_PER_JOB,
    { within: 120_000 },
  );

  const lost = await cluster.rows.query(
    `SELECT FROM task_executions WHERE kind = 'job' AND status = 'FAILED' AND error LIKE 'worker lost%'`,
  );
  expect(lost.length).toBeGreaterThanOrEqual(MIN_LOST);
  const pastes = await cluster.rows.query<{ content_hash: string; user_id: string }>(
    'SELECT content_hash, user_id FROM pastes',
  );
  const expected = Array.from({ length: JOBS }, (_, job) => contentsOf(job).map(sha256)).flat();
  expect(pastes.map(({ content_hash }) => content_hash).toSorted()).toEqual(expected.toSorted());
  expect(new Set(pastes.map(({ user_id }) => user_id))).toEqual(new Set([userId]));
  const assets = await cluster.rows.query(
    `SELECT count(*)::int, count(DISTINCT storage_path)::int AS paths FROM assets GROUP BY job_id`,
  );
  expect(assets).toEqual(Array(JOBS).fill({ count: ITEMS_PER_JOB, paths: ITEMS_PER_JOB }));
  await cluster.expectQuiet({ within: 60_000 });
}, 300_000);

const sha256 = (text: string): string => `sha256:${createHash('sha256').update(text).digest('hex')}`;
