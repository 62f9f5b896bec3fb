import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import {
  cancelJob,
  claimExecutions,
  createAsset,
  importPastes,
  jobSubject,
  readJobTimeline,
  renewLeases,
  writeProgress,
  type ClaimedJob,
} from '../../src/index.ts';
import { useDatabase } from '../support/database.ts';
import {
  endingOf,
  entriesOf,
  failure,
  newAsset,
  newJob,
  reap,
  runningJob,
  settle,
  settlementOf,
} from '../support/jobs.ts';
import { untilSomebodyWaits } from '../support/locks.ts';

const current = useDatabase();

const WHY = 'cancelled: cancelled by its owner';

const cancel = (jobId: string, actor = 'api/a') => cancelJob(current.db, { jobId, actor, by: 'its owner' });

async function jobOf(id: string) {
  return current.db
    .selectFrom('jobs')
    .select(['status', 'progress', 'result', 'error_message', 'completed_at'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
}

async function transitionsOf(id: string) {
  const { transitions } = await readJobTimeline(current.db, id);
  return transitions.map(
    ({ machine, from, to, actor, reason }) => `${machine} ${from} → ${to} ${actor} ${reason}`,
  );
}

/** Runs `act` while another transaction holds the rows that `hold` changes, until `act` waits for a lock. */
async function whileHeld<T>(hold: (db: typeof current.db) => Promise<unknown>, act: () => Promise<T>) {
  let acting: Promise<T> | undefined;
  await current.db.transaction().execute(async (tx) => {
    await hold(tx);
    acting = act();
    acting.catch(() => {});
    await untilSomebodyWaits(current.db);
  });
  return await acting!;
}

describe('a cancelled job', () => {
  it('that was queued is failed at once, by legal transitions, each with its actor and its reason', async () => {
    const { id } = await newJob(current.db);
    expect(await cancel(id)).toBe('queued');
    expect(await jobOf(id)).toEqual({
      status: 'failed',
      progress: 0,
      result: null,
      error_message: WHY,
      completed_at: expect.any(Date),
    });
    expect(await transitionsOf(id)).toEqual([
      `task_execution PENDING → RUNNING postgres (api/a) ${WHY}`,
      `job queued → processing postgres (api/a) ${WHY}`,
      `task_execution RUNNING → FAILED postgres (api/a) ${WHY}`,
      `job processing → failed postgres (api/a) ${WHY}`,
    ]);
  });

  it('that ran is failed, and its worker can neither renew, write nor settle', async () => {
    const { db } = current;
    const job = await runningJob(db);
    await writeProgress(db, { ...job, percent: 40, message: null });
    expect(await cancel(job.jobId)).toBe('processing');
    expect(await jobOf(job.jobId)).toMatchObject({ status: 'failed', progress: 40, error_message: WHY });
    expect(await renewLeases(db, [job.executionId], 6)).toEqual(new Set());
    expect(await writeProgress(db, { ...job, percent: 50, message: null })).toBe(false);
    await expect(importPastes(db, { ...job, entries: entriesOf(job, [0]) })).rejects.toThrow('was ended');
    expect(await settle(db, endingOf(job))).toBeNull();
    expect(await jobOf(job.jobId)).toMatchObject({ status: 'failed', progress: 40, error_message: WHY });
  });

  it('that waited for its next attempt is failed before that attempt is due', async () => {
    const job = await runningJob(current.db);
    await settle(current.db, settlementOf(job, failure));
    expect(await cancel(job.jobId)).toBe('processing');
    expect(await jobOf(job.jobId)).toMatchObject({ status: 'failed', error_message: WHY });
    expect((await claimOf(job.jobId))?.kind).toBe('ended');
  });

  it('whose worker has died is failed, and the reaper finds nothing', async () => {
    const job = await runningJob(current.db);
    expect(await cancel(job.jobId)).toBe('processing');
    expect(await reap(current.db, job)).toBeNull();
  });

  it('that has made something is partial, and its result says what', async () => {
    const job = await runningJob(current.db);
    await importPastes(current.db, { ...job, entries: entriesOf(job, [0, 1, 5]) });
    await cancel(job.jobId);
    expect(await jobOf(job.jobId)).toMatchObject({
      status: 'partial',
      result: {
        assets: 3,
        positions: [
          [0, 1],
          [5, 5],
        ],
      },
      error_message: WHY,
    });
  });
});

describe('cancelling changes nothing', () => {
  it('when it is repeated, and when the job has ended by itself', async () => {
    const { id } = await newJob(current.db);
    await cancel(id);
    const ended = await runningJob(current.db);
    await settle(current.db, endingOf(ended));
    for (const jobId of [id, ended.jobId]) {
      const before = [await jobOf(jobId), await transitionsOf(jobId)];
      expect(await cancel(jobId, 'api/b')).toBeNull();
      expect([await jobOf(jobId), await transitionsOf(jobId)]).toEqual(before);
    }
  });

  it('when there is no such job, or plain SQL has stranded it', async () => {
    expect(await cancel('00000000-0000-4000-8000-000000000000')).toBeNull();
    const job = await runningJob(current.db);
    await sql`DELETE FROM task_executions WHERE id = ${job.executionId}`.execute(current.db);
    expect(await cancel(job.jobId)).toBeNull();
    expect(await jobOf(job.jobId)).toMatchObject({ status: 'processing' });
  });
});

describe('a cancel of a job that somebody ended by hand', () => {
  const endByHand = (jobId: string) =>
    sql`UPDATE jobs SET status = 'failed', error_message = 'by hand', completed_at = now() WHERE id = ${jobId}`.execute(
      current.db,
    );

  it.each([
    ['runs', async (_job: ClaimedJob) => {}],
    ['waits', async (job: ClaimedJob) => void (await settle(current.db, settlementOf(job, failure)))],
  ])('ends the execution that %s, and leaves the job as it is', async (_what, settleFirst) => {
    const job = await runningJob(current.db);
    await settleFirst(job);
    await endByHand(job.jobId);
    expect(await cancel(job.jobId)).toBeNull();
    expect(await jobOf(job.jobId)).toMatchObject({ status: 'failed', error_message: 'by hand' });
    const executions = await current.db.selectFrom('task_executions').select('status').execute();
    expect(new Set(executions.map(({ status }) => status))).toEqual(new Set(['FAILED']));
  });
});

describe('a cancel that meets', () => {
  it('a claim waits for it, and ends the job that runs now', async () => {
    const { id } = await newJob(current.db);
    const from = await whileHeld(
      (tx) => claimExecutions(tx, jobSubject, { keys: [id], actor: 'w1', leaseSeconds: 6 }),
      () => cancel(id),
    );
    expect([from, (await jobOf(id)).status]).toEqual(['processing', 'failed']);
  });

  it('a settlement that ends the job waits for it, and loses', async () => {
    const job = await runningJob(current.db);
    const from = await whileHeld(
      async (tx) => settle(tx, endingOf(job)),
      () => cancel(job.jobId),
    );
    expect([from, (await jobOf(job.jobId)).status]).toEqual([null, 'completed']);
  });

  it('a settlement that begins the next attempt ends that attempt', async () => {
    const job = await runningJob(current.db);
    const from = await whileHeld(
      async (tx) => settle(tx, settlementOf(job, failure)),
      () => cancel(job.jobId),
    );
    expect([from, (await jobOf(job.jobId)).status]).toEqual(['processing', 'failed']);
  });

  it('an asset that is being made counts that asset', async () => {
    const job = await runningJob(current.db);
    await whileHeld(
      async (tx) => createAsset(tx, { executionId: job.executionId, asset: newAsset(job) }),
      () => cancel(job.jobId),
    );
    expect(await jobOf(job.jobId)).toMatchObject({ status: 'partial', result: { assets: 1 } });
  });

  it('other cancels wins once', async () => {
    const jobs = [await newJob(current.db), await newJob(current.db)].map(({ id }) => id);
    const running = await runningJob(current.db);
    for (const id of [...jobs, running.jobId]) {
      const answers = await Promise.all(Array.from({ length: 8 }, (_, n) => cancel(id, `api/${n}`)));
      expect(answers.filter((from) => from !== null)).toHaveLength(1);
    }
  });
});

async function claimOf(jobId: string) {
  const claims = await claimExecutions<ClaimedJob>(current.db, jobSubject, {
    keys: [jobId],
    actor: 'w2',
    leaseSeconds: 6,
  });
  return claims.get(jobId);
}
