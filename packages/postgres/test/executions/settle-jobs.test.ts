import { describe, expect, it } from '@jest/globals';
import { InvalidTransitionError } from '@pasteflow/domain';
import { sql } from 'kysely';
import {
  createAsset,
  findJob,
  importPastes,
  jobSubject,
  readJobTimeline,
  settleExecutions,
  type ClaimedJob,
} from '../../src/index.ts';
import { useDatabase } from '../support/database.ts';
import {
  claimJob,
  completed,
  endingOf,
  entriesOf,
  failure,
  firstPositions,
  loss,
  makeDue,
  newAsset,
  newJob,
  reap,
  runningJob,
  settle,
  settlementOf,
} from '../support/jobs.ts';
import { makePastes } from '../../src/testing/index.ts';
import { untilSomebodyWaits } from '../support/locks.ts';

const current = useDatabase();
const byW1 = { actor: 'w1', dispatched: true };

/** Fails all attempts of a job except the last. @returns the last attempt, RUNNING */
async function lastAttempt(jobId: string): Promise<ClaimedJob> {
  for (;;) {
    await makeDue(current.db);
    const job = await claimJob(current.db, jobId);
    if (job.attempt === 6) return job;
    await settle(current.db, settlementOf(job, failure));
  }
}

describe('J1: a job that has ended', () => {
  it('is completed, with its result, progress 100 and the time of its end', async () => {
    const job = await runningJob(current.db);
    const settled = await settle(current.db, endingOf(job));
    const { executionId, jobId } = job;
    expect(settled).toEqual({
      executionId,
      subjectId: jobId,
      successorId: null,
      runAt: null,
      status: 'completed',
    });
    const row = await findJob(current.db, jobId);
    expect(row).toMatchObject({
      status: 'completed',
      progress: 100,
      result: { made: 1 },
      error_message: null,
    });
    expect(row!.completed_at).toEqual(row!.updated_at);
  });

  it.each(['queued', 'processing', 'partial', 'failed'])(
    'J3: cannot transition from completed to %s',
    async (to) => {
      const { jobId, ...job } = await runningJob(current.db);
      await settle(current.db, endingOf({ jobId, ...job }));
      const change = sql`UPDATE jobs SET status = ${to} WHERE id = ${jobId}`.execute(current.db);
      await expect(change).rejects.toBeInstanceOf(InvalidTransitionError);
      await expect(change).rejects.toThrow(`Cannot transition from 'completed' to '${to}'`);
    },
  );

  it('J2: has completed_at in terminal states only', async () => {
    const { id } = await newJob(current.db);
    const early = sql`UPDATE jobs SET completed_at = now() WHERE id = ${id}`.execute(current.db);
    await expect(early).rejects.toMatchObject({ constraint: 'jobs_completed_has_time' });
    const { jobId } = await runningJob(current.db);
    const without = sql`UPDATE jobs SET status = 'failed' WHERE id = ${jobId}`.execute(current.db);
    await expect(without).rejects.toMatchObject({ constraint: 'jobs_completed_has_time' });
  });
});

describe('J6: partial', () => {
  it('states in result and error_message what was done and what was not', async () => {
    const job = await runningJob(current.db);
    await createAsset(current.db, { executionId: job.executionId, asset: newAsset(job) });
    const result = { failed: [{ position: 3, reason: 'content is empty' }] };
    const ending = { status: 'partial' as const, result, errorMessage: '1 of 4 entries failed' };
    expect(await settle(current.db, endingOf(job, ending))).toMatchObject({ status: 'partial' });
    expect(await findJob(current.db, job.jobId)).toMatchObject({
      status: 'partial',
      progress: 100,
      result,
      error_message: '1 of 4 entries failed',
    });
  });

  it('is the end of a job with assets whose last attempt failed', async () => {
    const first = await runningJob(current.db);
    await createAsset(current.db, { executionId: first.executionId, asset: newAsset(first) });
    await settle(current.db, settlementOf(first, failure));
    const settled = await settle(current.db, settlementOf(await lastAttempt(first.jobId), failure));
    expect(settled).toMatchObject({ status: 'partial', successorId: null });
    expect(await findJob(current.db, first.jobId)).toMatchObject({
      status: 'partial',
      result: { assets: 1 },
      error_message: 'internal: 6 attempts failed; the last: the archive is broken',
    });
  });

  it('lists the imported positions of an import that was given up, as ranges', async () => {
    const first = await runningJob(current.db);
    const made = [4, 5, 6, 0, 9, 8];
    await importPastes(current.db, { ...first, entries: entriesOf(first, made) });
    await reap(current.db, first);
    const last = await lastAttempt(first.jobId);
    await importPastes(current.db, { ...last, entries: entriesOf(last, [7, 2]) });
    expect(await settle(current.db, settlementOf(last, failure))).toMatchObject({ status: 'partial' });
    const runs = [
      [0, 0],
      [2, 2],
      [4, 9],
    ];
    expect((await findJob(current.db, first.jobId))!.result).toEqual({ assets: 8, positions: runs });
  });

  it('lists the first thousand ranges, and counts all assets', async () => {
    const job = await runningJob(current.db);
    const odd = firstPositions(1001).map((n) => 2 * n + 1);
    await importPastes(current.db, { ...job, entries: entriesOf(job, odd) });
    const enough = { ...settlementOf(job, loss), nextStep: { kind: 'give_up' as const, reason: 'enough' } };
    await settle(current.db, enough);
    const { assets, positions } = (await findJob(current.db, job.jobId))!.result as {
      assets: number;
      positions: number[][];
    };
    expect([assets, positions.length, positions.at(-1)]).toEqual([1001, 1000, [1999, 1999]]);
  });

  it('is the end of a job that reports failed, when an earlier attempt has made assets', async () => {
    const first = await runningJob(current.db);
    await createAsset(current.db, { executionId: first.executionId, asset: newAsset(first) });
    await reap(current.db, first);
    const second = await claimJob(current.db, first.jobId);
    const ending = { status: 'failed' as const, result: { a: 1 }, errorMessage: 'the source paste is gone' };
    const settlement = { ...endingOf(second, ending), nextStep: { kind: 'give_up' as const, reason: 'r' } };
    expect(await settle(current.db, settlement)).toMatchObject({ status: 'partial' });
    expect(await findJob(current.db, first.jobId)).toMatchObject({
      result: { assets: 1, a: 1 },
      error_message: 'the source paste is gone',
    });
  });

  it('includes an asset that was created while the settlement waited for the lock on the execution', async () => {
    const { jobId } = await newJob(current.db).then(({ id }) => lastAttempt(id));
    const { executions } = await readJobTimeline(current.db, jobId);
    const { user_id: userId } = (await findJob(current.db, jobId))!;
    const named = { jobId, userId, executionId: executions.at(-1)!.id, jobType: '' };
    const job = { ...named, attempt: 6, losses: 0, parameters: {}, expiryRules: null };
    const making = await current.db.startTransaction().execute();
    await createAsset(making, { executionId: job.executionId, asset: newAsset(job) });
    const settling = settle(current.db, settlementOf(job, failure));
    await untilSomebodyWaits(current.db);
    await making.commit().execute();
    expect(await settling).toMatchObject({ status: 'partial' });
    expect(await findJob(current.db, jobId)).toMatchObject({ progress: 100, result: { assets: 1 } });
  });
});

describe('a job without assets', () => {
  it('is failed after its last attempt, with the reason and its last progress', async () => {
    const { id } = await newJob(current.db);
    const last = await lastAttempt(id);
    await sql`UPDATE jobs SET progress = 40`.execute(current.db);
    expect(await settle(current.db, settlementOf(last, failure))).toMatchObject({ status: 'failed' });
    expect(await findJob(current.db, id)).toMatchObject({
      status: 'failed',
      progress: 40,
      result: null,
      error_message: 'internal: 6 attempts failed; the last: the archive is broken',
    });
    const { executions } = await readJobTimeline(current.db, id);
    expect(executions.map(({ attempt, status }) => [attempt, status])).toEqual(
      [1, 2, 3, 4, 5, 6].map((attempt) => [attempt, 'FAILED']),
    );
  });

  it('is failed at once when its work reports failed', async () => {
    const job = await runningJob(current.db);
    const ending = { status: 'failed' as const, result: { why: 'bomb' }, errorMessage: 'not an archive' };
    const outcome = { kind: 'failed' as const, error: 'not an archive' };
    const settlement = {
      ...settlementOf(job, outcome, ending),
      nextStep: { kind: 'give_up' as const, reason: 'r' },
    };
    expect(await settle(current.db, settlement)).toMatchObject({ status: 'failed', successorId: null });
    expect(await findJob(current.db, job.jobId)).toMatchObject({
      status: 'failed',
      result: { why: 'bomb' },
      error_message: 'not an archive',
    });
  });
});

describe('settling', () => {
  it('accepts one of 50 concurrent settlements of an execution; the other 49 get an empty result', async () => {
    const job = await runningJob(current.db);
    const results = await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        settle(current.db, n % 2 ? settlementOf(job, failure) : endingOf(job), `w${n}`),
      ),
    );
    expect(results.filter((settled) => settled !== null)).toHaveLength(1);
    const { transitions } = await readJobTimeline(current.db, job.jobId);
    expect(
      transitions.filter(({ machine, from }) => machine === 'task_execution' && from === 'RUNNING'),
    ).toHaveLength(1);
  });

  it('settles each job of a mixed batch by its own outcome, in one statement', async () => {
    const jobs: ClaimedJob[] = [];
    for (let n = 0; n < 9; n++) jobs.push(await runningJob(current.db));
    await createAsset(current.db, { executionId: jobs[2]!.executionId, asset: newAsset(jobs[2]!) });
    const give = (job: ClaimedJob) => ({
      ...settlementOf(job, loss),
      nextStep: { kind: 'give_up' as const, reason: 'enough' },
    });
    const settlements = jobs.map((job, n) => [endingOf(job), settlementOf(job, failure), give(job)][n % 3]!);
    const settled = await settleExecutions(current.db, jobSubject, settlements, byW1);
    expect(jobs.map(({ executionId }) => settled.get(executionId)?.status)).toEqual([
      'completed',
      'processing',
      'partial',
      'completed',
      'processing',
      'failed',
      'completed',
      'processing',
      'failed',
    ]);
    expect(jobs.map(({ executionId }) => settled.get(executionId)?.successorId === null)).toEqual(
      [0, 1, 2].flatMap(() => [true, false, true]),
    );
  });

  it('refuses a zombie, and refuses the reaper once the lease is renewed or the execution has ended', async () => {
    const zombie = await runningJob(current.db);
    await reap(current.db, zombie);
    expect(await settle(current.db, endingOf(zombie))).toBeNull();
    const second = await claimJob(current.db, zombie.jobId, 'w2');
    const options = { actor: 'reaper', onlyPastLease: true, dispatched: false };
    expect((await settleExecutions(current.db, jobSubject, [settlementOf(second, loss)], options)).size).toBe(
      0,
    );
    expect(await settle(current.db, endingOf(second), 'w2')).toMatchObject({ status: 'completed' });
    expect((await settleExecutions(current.db, jobSubject, [settlementOf(second, loss)], options)).size).toBe(
      0,
    );
    expect(await findJob(current.db, zombie.jobId)).toMatchObject({ status: 'completed' });
  });

  it('refuses a settlement with a wrong ending, and the execution of an upload', async () => {
    const job = await runningJob(current.db);
    const none = { ...endingOf(job), ending: null };
    await expect(settle(current.db, none)).rejects.toThrow(TypeError);
    await expect(settle(current.db, settlementOf(job, failure, completed))).rejects.toThrow(TypeError);
    const execution = { status: 'RUNNING', workerId: 'w1' } as const;
    const [upload] = await makePastes(current.db, 1, { status: 'IN_PROGRESS', execution });
    expect(await settle(current.db, endingOf({ ...job, executionId: upload!.executionId }))).toBeNull();
  });

  it('accepts any text that a hostile archive puts into result and error', async () => {
    const job = await runningJob(current.db);
    const result = { 'na\0me': ['\u{D800}', 'a\\u0000', '\0', '🎉'] };
    const ending = { status: 'failed' as const, result, errorMessage: 'entry "\0\u{DC00}"' };
    const outcome = { kind: 'failed' as const, error: 'entry "\0"' };
    const settlement = {
      ...settlementOf(job, outcome, ending),
      nextStep: { kind: 'give_up' as const, reason: 'r' },
    };
    expect(await settle(current.db, settlement)).toMatchObject({ status: 'failed' });
    expect(await findJob(current.db, job.jobId)).toMatchObject({
      result: { 'na\u{FFFD}me': ['\u{FFFD}', 'a\\u0000', '\u{FFFD}', '🎉'] },
      error_message: 'entry "\u{FFFD}\u{FFFD}"',
    });
  });
});
