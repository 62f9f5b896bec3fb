import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { findJob, readJobTimeline } from '../../src/index.ts';
import { useDatabase } from '../support/database.ts';
import {
  claimJob,
  endingOf,
  failure,
  makeDue,
  reap,
  runningJob,
  settle,
  settlementOf,
} from '../support/jobs.ts';

const current = useDatabase();

describe('J9: an attempt whose end is not the end of the job', () => {
  it('is followed by an attempt that is due after its wait, while the job stays processing', async () => {
    const job = await runningJob(current.db);
    const settled = await settle(current.db, settlementOf(job, failure));
    expect(settled).toMatchObject({ status: 'processing' });
    const { executions } = await readJobTimeline(current.db, job.jobId);
    const [ended, next] = executions;
    expect(ended).toMatchObject({ status: 'FAILED', error: 'the archive is broken' });
    expect(next).toMatchObject({
      id: settled!.successorId,
      attempt: 2,
      status: 'PENDING',
      run_at: settled!.runAt,
    });
    expect(next!.run_at.getTime() - ended!.finished_at!.getTime()).toBe(1000);
    expect(next!.dispatched_at).not.toBeNull();
    expect(await findJob(current.db, job.jobId)).toMatchObject({ status: 'processing', error_message: null });
  });

  it('is followed by an undispatched execution of the same attempt, a second after the end of the lease, when its worker was lost', async () => {
    const job = await runningJob(current.db);
    const settled = await reap(current.db, job);
    expect(settled).toMatchObject({ status: 'processing' });
    const { rows } =
      await sql`SELECT user_id, attempt, losses, dispatched_at, run_at <= now() AS due FROM task_executions
      WHERE id = ${settled!.successorId}`.execute(current.db);
    expect(rows).toEqual([{ user_id: job.userId, attempt: 1, losses: 1, dispatched_at: null, due: true }]);
  });

  it('spends no attempt when its worker stops or the work could not be tried', async () => {
    const first = await runningJob(current.db);
    await settle(current.db, settlementOf(first, { kind: 'interrupted' }));
    const second = await claimJob(current.db, first.jobId);
    await settle(current.db, settlementOf(second, { kind: 'postponed', error: 'no room' }));
    await makeDue(current.db);
    await claimJob(current.db, first.jobId);
    const { executions } = await readJobTimeline(current.db, first.jobId);
    expect(executions.map(({ attempt, error }) => [attempt, error])).toEqual([
      [1, 'interrupted'],
      [1, 'no room'],
      [1, null],
    ]);
  });
});

describe('J9: the audit trail of a job', () => {
  it('has all transitions in order, with actors and reasons', async () => {
    const first = await runningJob(current.db);
    await settle(current.db, settlementOf(first, failure));
    await makeDue(current.db);
    const second = await claimJob(current.db, first.jobId, 'w2');
    await reap(current.db, second);
    const third = await claimJob(current.db, first.jobId, 'w3');
    const ending = { status: 'failed' as const, result: {}, errorMessage: 'every entry is invalid' };
    await settle(current.db, endingOf(third, ending), 'w3');
    const { transitions } = await readJobTimeline(current.db, first.jobId);
    expect(
      transitions.map(({ machine, from, to, actor, reason }) => [machine, from, to, actor, reason]),
    ).toEqual([
      ['task_execution', 'PENDING', 'RUNNING', 'w1', 'claimed'],
      ['job', 'queued', 'processing', 'w1', 'claimed'],
      ['task_execution', 'RUNNING', 'FAILED', 'w1', 'the archive is broken'],
      ['task_execution', 'PENDING', 'RUNNING', 'w2', 'claimed'],
      ['task_execution', 'RUNNING', 'FAILED', 'reaper', 'worker lost: w1'],
      ['task_execution', 'PENDING', 'RUNNING', 'w3', 'claimed'],
      ['task_execution', 'RUNNING', 'SUCCEEDED', 'w3', null],
      ['job', 'processing', 'failed', 'w3', 'every entry is invalid'],
    ]);
  });
});
