import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { claimExecutions, findJob, jobSubject, stampDispatched } from '../../src/index.ts';
import { useDatabase } from '../support/database.ts';
import {
  claimJob,
  completed,
  endingOf,
  failure,
  makeDue,
  newJob,
  runningJob,
  settle,
  settlementOf,
} from '../support/jobs.ts';
import { untilSomebodyWaits } from '../support/locks.ts';

const current = useDatabase();
const lease = { actor: 'w', leaseSeconds: 6 };

describe('creating a job', () => {
  it('inserts a queued job with the columns of J2, and a PENDING execution', async () => {
    const { id, executionId, userId, createdAt } = await newJob(current.db, { items: [{ content: 'ä' }] });
    expect(await findJob(current.db, id)).toEqual({
      id,
      user_id: userId,
      job_type: 'import',
      status: 'queued',
      progress: 0,
      progress_message: null,
      error_message: null,
      parameters: { items: [{ content: 'ä' }] },
      result: null,
      title: null,
      retry_of: null,
      retried_as: null,
      had_content: false,
      created_at: createdAt,
      updated_at: createdAt,
      completed_at: null,
    });
    const { rows } = await sql`SELECT kind, subject_id, attempt, status, dispatched_at FROM task_executions
      WHERE id = ${executionId}`.execute(current.db);
    expect(rows).toEqual([
      { kind: 'job', subject_id: id, attempt: 1, status: 'PENDING', dispatched_at: null },
    ]);
  });
});

describe('claiming', () => {
  it('gives a job to one of 50 concurrent workers, and answers not_now to the other 49', async () => {
    const { id } = await newJob(current.db);
    const claims = await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        claimExecutions(current.db, jobSubject, { keys: [id], actor: `w${n}`, leaseSeconds: 6 }),
      ),
    );
    const kinds = claims.map((claim) => claim.get(id)?.kind);
    expect(kinds.filter((kind) => kind === 'claimed')).toHaveLength(1);
    expect(kinds.filter((kind) => kind === 'not_now')).toHaveLength(49);
    const { rows } = await sql`SELECT machine, "from", "to" FROM state_transitions ORDER BY machine`.execute(
      current.db,
    );
    expect(rows).toEqual([
      { machine: 'job', from: 'queued', to: 'processing' },
      { machine: 'task_execution', from: 'PENDING', to: 'RUNNING' },
    ]);
  });

  it('returns what the work needs, and makes the job processing in the same statement', async () => {
    const { id, userId, executionId } = await newJob(current.db, { items: [1, 2] });
    expect(await claimJob(current.db, id)).toEqual({
      jobId: id,
      userId,
      executionId,
      jobType: 'import',
      attempt: 1,
      losses: 0,
      expiryRules: null,
      parameters: { items: [1, 2] },
    });
    const job = await findJob(current.db, id);
    expect(job).toMatchObject({ status: 'processing', completed_at: null });
    expect(job!.updated_at.getTime()).toBeGreaterThan(job!.created_at.getTime());
  });

  it('waits for a concurrent dispatch stamp to commit, and then claims the execution', async () => {
    const { id, executionId } = await newJob(current.db);
    const stamping = await current.db.startTransaction().execute();
    await stampDispatched(stamping, [executionId]);
    const claiming = claimJob(current.db, id);
    await Promise.race([untilSomebodyWaits(current.db), claiming]);
    await stamping.commit().execute();
    expect(await claiming).toMatchObject({ executionId });
  });

  it('answers for each job of a batch: due, running elsewhere, waiting, ended and removed', async () => {
    const due = await newJob(current.db);
    const running = await runningJob(current.db);
    const waiting = await runningJob(current.db);
    // Later than any machine takes until the claim.
    const nextStep = { kind: 'retry', attempt: 2, delayMs: 600_000 } as const;
    await settle(current.db, { ...settlementOf(waiting, failure), nextStep });
    const ended = await runningJob(current.db);
    await settle(current.db, endingOf(ended));
    const removed = '00000000-0000-7000-8000-000000000000';
    const jobIds = [due.id, running.jobId, waiting.jobId, ended.jobId, removed];
    const claims = await claimExecutions(current.db, jobSubject, { keys: jobIds, ...lease });
    expect(jobIds.map((id) => claims.get(id)?.kind)).toEqual([
      'claimed',
      'not_now',
      'not_now',
      'ended',
      undefined,
    ]);
    const { waitMs } = claims.get(waiting.jobId) as { waitMs: number };
    expect(waitMs).toBeGreaterThan(300_000);
    expect(waitMs).toBeLessThanOrEqual(600_000);
  });

  it('answers a wait of at least a second for a zombie that is not reaped yet', async () => {
    const { jobId } = await runningJob(current.db);
    await sql`UPDATE task_executions SET lease_expires_at = now() - interval '1 hour'`.execute(current.db);
    const claims = await claimExecutions(current.db, jobSubject, { keys: [jobId], ...lease });
    expect(claims.get(jobId)).toMatchObject({ kind: 'not_now' });
    expect((claims.get(jobId) as { waitMs: number }).waitMs).toBeGreaterThanOrEqual(1000);
  });

  it('claims the next attempt of a processing job without a transition of the job', async () => {
    const first = await runningJob(current.db);
    await settle(current.db, settlementOf(first, failure));
    await makeDue(current.db);
    expect(await claimJob(current.db, first.jobId, 'w2')).toMatchObject({ attempt: 2 });
    const { rows } = await sql`SELECT FROM state_transitions WHERE machine = 'job'`.execute(current.db);
    expect(rows).toHaveLength(1);
  });

  it('never claims the execution of an upload for a job', async () => {
    const { id } = await newJob(current.db);
    await sql`INSERT INTO task_executions (kind, subject_id, attempt) VALUES ('upload', ${id}, 1)`.execute(
      current.db,
    );
    const { executionId } = await claimJob(current.db, id);
    const { rows } = await sql`SELECT kind FROM task_executions WHERE id = ${executionId}`.execute(
      current.db,
    );
    expect(rows).toEqual([{ kind: 'job' }]);
    expect(await settle(current.db, endingOf(await runningJob(current.db), completed))).not.toBeNull();
  });
});
