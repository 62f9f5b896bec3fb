import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { findOldJobs, removeJobs, type Database } from '../../src/index.ts';
import { lockRow, makeJobs, makeUsers, type JobShape, type MadeJob } from '../../src/testing/index.ts';
import { useDatabase } from '../support/database.ts';
import { claimJob, entriesOf, runningJob, settle, endingOf } from '../support/jobs.ts';
import { importPastes } from '../../src/index.ts';

const current = useDatabase();

async function make(count: number, shape: object): Promise<readonly MadeJob[]> {
  const [user] = await makeUsers(current.db, 1);
  return makeJobs(current.db, count, { userId: user!.id, ...shape } as JobShape);
}

const ids = (jobs: readonly { id: string }[]) => jobs.map(({ id }) => id);
const remove = (db: Database, jobIds: readonly string[]) =>
  removeJobs(
    db,
    jobIds.map((id) => ({ id, retriedAs: null })),
  );

/**
 * Leaves only plans that read the rows in the order in which they are stored: another plan would hide a
 * missing ORDER BY or lock.
 */
async function readAsStored(db: Database): Promise<void> {
  await sql`SET LOCAL enable_seqscan = on`.execute(db);
  for (const plan of ['indexscan', 'indexonlyscan', 'bitmapscan', 'nestloop', 'mergejoin'])
    await sql`SET LOCAL ${sql.ref(`enable_${plan}`)} = off`.execute(db);
}

describe('finding old jobs', () => {
  it('finds jobs of every terminal state that ended before the retention, oldest end first', async () => {
    const oldest = await make(1, { status: 'failed', completedSecondsAgo: 300 });
    const old = await make(1, { status: 'completed', completedSecondsAgo: 200 });
    const partial = await make(1, { status: 'partial', completedSecondsAgo: 150 });
    await make(1, { status: 'completed', completedSecondsAgo: 50, createdSecondsAgo: 500 });
    await make(1, { status: 'queued', createdSecondsAgo: 500 });
    await make(1, { status: 'processing', createdSecondsAgo: 500 });
    const found = await findOldJobs(current.db, { retentionSeconds: 100, after: null, limit: 10 });
    expect(ids(found)).toEqual(ids([...oldest, ...old, ...partial]));
  });

  it('continues after the last job, also among jobs that ended at the same moment', async () => {
    const made = await make(5, { status: 'completed', completedSecondsAgo: 300 });
    await sql`UPDATE jobs SET progress_message = 'now behind the others' WHERE id = ${made[0]!.id}`.execute(
      current.db,
    );
    await current.db.transaction().execute(async (tx) => {
      await readAsStored(tx);
      const find = { retentionSeconds: 100, limit: 2 };
      const first = await findOldJobs(tx, { ...find, after: null });
      const second = await findOldJobs(tx, { ...find, after: first.at(-1)! });
      const third = await findOldJobs(tx, { ...find, after: second.at(-1)! });
      const [a, b, c, d, e] = ids(made).toSorted();
      expect(ids(await findOldJobs(tx, { ...find, after: null, limit: 10 }))).toEqual([a, b, c, d, e]);
      expect([first, second, third].map(ids)).toEqual([[a, b], [c, d], [e]]);
      expect(await findOldJobs(tx, { ...find, after: third.at(-1)! })).toEqual([]);
    });
  });
});

describe('removing jobs', () => {
  it('removes their assets and executions, and nothing of other jobs', async () => {
    const [gone, ...stay] = await make(3, { status: 'completed', assets: 2 });
    expect(await remove(current.db, [gone!.id, gone!.id])).toBe(1);
    const { rows } = await sql`
      SELECT (SELECT count(*)::int FROM jobs) AS jobs, (SELECT count(*)::int FROM assets) AS assets,
        (SELECT count(*)::int FROM task_executions) AS executions`.execute(current.db);
    expect(rows).toEqual([{ jobs: 2, assets: 4, executions: 2 }]);
    const left = await current.db.selectFrom('jobs').select('id').orderBy('id').execute();
    expect(ids(left)).toEqual(ids(stay));
  });

  it('removes no open job, no removed job, and none of an empty list', async () => {
    const queued = await make(1, { status: 'queued' });
    const processing = await make(1, { status: 'processing' });
    const [gone] = await make(1, { status: 'failed' });
    await remove(current.db, [gone!.id]);
    expect(await remove(current.db, ids([...queued, ...processing, gone!]))).toBe(0);
    expect(await remove(current.db, [])).toBe(0);
  });

  it('leaves a job that is locked to the next run, and removes the others', async () => {
    const [locked, ...others] = await make(3, { status: 'completed' });
    const unlock = await lockRow(current.db, 'jobs', locked!.id);
    const removal = current.db.transaction().execute(async (tx) => {
      await sql`SET LOCAL lock_timeout = 300`.execute(tx);
      return await remove(tx, ids([locked!, ...others]));
    });
    try {
      expect(await removal).toBe(2);
    } finally {
      await unlock();
    }
    expect(await remove(current.db, [locked!.id])).toBe(1);
  });

  it('keeps the pastes that a job created, and their uploads', async () => {
    const job = await runningJob(current.db);
    await importPastes(current.db, { ...job, entries: entriesOf(job, [0, 1]) });
    await settle(current.db, endingOf(job));
    expect(await remove(current.db, [job.jobId])).toBe(1);
    const { rows } = await sql`
      SELECT (SELECT count(*)::int FROM pastes) AS pastes, (SELECT count(*)::int FROM assets) AS assets,
        (SELECT array_agg(kind::text) FROM task_executions) AS executions`.execute(current.db);
    expect(rows).toEqual([{ pastes: 2, assets: 0, executions: ['upload', 'upload'] }]);
  });

  it('removes a job once in ten concurrent sweeps', async () => {
    const old = await make(50, { status: 'completed', assets: 3 });
    const removed = await Promise.all(
      Array.from({ length: 10 }, (_, n) => remove(current.db, n % 2 ? ids(old) : ids(old).toReversed())),
    );
    expect(removed.reduce((sum, count) => sum + count, 0)).toBe(50);
  });
});

describe('the jobs of makeJobs', () => {
  it.each(['queued', 'processing', 'completed', 'partial', 'failed'])(
    'that are %s have the columns that a real run leaves',
    async (status) => {
      const [job] = await make(1, { status });
      const { rows } = await sql<{ open: boolean; running: boolean; assets: number }>`
        SELECT e.status IN ('PENDING', 'RUNNING') AS open, e.status = 'RUNNING' AS running,
          (SELECT count(*)::int FROM assets WHERE job_id = j.id) AS assets
        FROM jobs j JOIN task_executions e ON e.subject_id = j.id WHERE j.id = ${job!.id} AND e.id = ${job!.executionId}`.execute(
        current.db,
      );
      expect(rows).toEqual([
        {
          open: status === 'queued' || status === 'processing',
          running: status === 'processing',
          assets: status === 'completed' || status === 'partial' ? 1 : 0,
        },
      ]);
      if (status === 'queued') await claimJob(current.db, job!.id);
    },
  );
});
