import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import {
  claimJob,
  createCappedJob,
  createJob,
  stampDispatched,
  type JobClaim,
  type ClaimedJob,
  type CreatedJob,
} from '../../src/index.ts';
import { makeUsers } from '../../src/testing/index.ts';
import { useDatabase } from '../support/database.ts';
import { endingOf, failure, settle, settlementOf } from '../support/jobs.ts';
import { untilSomebodyWaits } from '../support/locks.ts';

const current = useDatabase();

const newUser = async () => (await makeUsers(current.db, 1))[0]!.id;

/** Jobs of a user whose messages are sent. */
async function submit(userId: string, count: number): Promise<readonly CreatedJob[]> {
  const jobs = [];
  for (let n = 0; n < count; n++)
    jobs.push(await createJob(current.db, { userId, jobType: 'import', parameters: {} }));
  await stampDispatched(
    current.db,
    jobs.map(({ executionId }) => executionId),
  );
  return jobs;
}

const receive = (jobId: string): Promise<JobClaim> =>
  claimJob(current.db, { jobId, actor: 'w1', leaseSeconds: 60 });

async function claimed(jobId: string): Promise<ClaimedJob> {
  const claim = await receive(jobId);
  if (claim.kind !== 'claimed') throw new Error(`not claimed: ${JSON.stringify(claim)}`);
  return claim.execution;
}

/** The users of the jobs that the messages of `jobs` claim, each ended before the next. */
async function served(jobs: readonly CreatedJob[]): Promise<readonly string[]> {
  const users = [];
  for (const { id } of jobs) {
    const job = await claimed(id);
    users.push(job.userId);
    await settle(current.db, endingOf(job));
  }
  return users;
}

describe('the claim of a job', () => {
  it('serves a user with one job next, although 790 jobs of another user wait', async () => {
    const [many, one] = [await newUser(), await newUser()];
    const first = await submit(many, 790);
    await served(first.slice(0, 3));
    await submit(one, 1);
    expect(await served(first.slice(3, 5))).toContain(one);
  });

  it('serves users in rotation, whichever jobs the messages name', async () => {
    const [a, b, c] = [await newUser(), await newUser(), await newUser()];
    const jobs = [...(await submit(a, 6)), ...(await submit(b, 3)), ...(await submit(c, 3))];
    const users = await served(jobs);
    for (const round of [0, 3, 6]) expect(new Set(users.slice(round, round + 3))).toEqual(new Set([a, b, c]));
    expect(users.slice(9)).toEqual([a, a, a]);
  });

  it('gives a user who comes late the next turn, and not all the turns that the others have had', async () => {
    const [early, late] = [await newUser(), await newUser()];
    const jobs = await submit(early, 30);
    await served(jobs.slice(0, 20));
    const all = [...jobs.slice(20), ...(await submit(late, 10))];
    const users = await served(all);
    expect(users.slice(0, 10).filter((user) => user === late)).toHaveLength(5);
  });

  it('gives a job that has yielded a new turn, so that it does not go before those of others again', async () => {
    const [many, one] = [await newUser(), await newUser()];
    const [first, second] = await submit(many, 2);
    const yielding = await claimed(first!.id);
    const [other] = await submit(one, 1);
    await settle(current.db, settlementOf(yielding, { kind: 'yielded', delayMs: 0 }));
    const next = [];
    for (const { id } of [first!, second!, other!]) next.push((await claimed(id)).jobId);
    expect(next).toEqual([second!.id, other!.id, first!.id]);
  });

  it('gives concurrent claims different jobs', async () => {
    const jobs = await submit(await newUser(), 20);
    const claims = await Promise.all(jobs.map(() => claimed(jobs[0]!.id)));
    expect(new Set(claims.map(({ jobId }) => jobId)).size).toBe(20);
  });

  it('skips a job that another session has locked', async () => {
    const [locked, free] = await submit(await newUser(), 2);
    await current.db.transaction().execute(async (tx) => {
      await sql`SELECT FROM task_executions WHERE id = ${locked!.executionId} FOR UPDATE`.execute(tx);
      expect((await claimed(locked!.id)).jobId).toBe(free!.id);
    });
  });

  it('waits for the stamp of the job whose message has come before it', async () => {
    const [job] = [
      await createJob(current.db, { userId: await newUser(), jobType: 'import', parameters: {} }),
    ];
    const claiming = await current.db.transaction().execute(async (tx) => {
      await stampDispatched(tx, [job.executionId]);
      const claim = claimed(job.id);
      await untilSomebodyWaits(current.db);
      return { claim };
    });
    expect((await claiming.claim).jobId).toBe(job.id);
  });

  it('takes another job without a stamp while the named one runs, or waits for its next attempt', async () => {
    const userId = await newUser();
    const create = () => createJob(current.db, { userId, jobType: 'import', parameters: {} });
    const [named, second, third] = [await create(), await create(), await create()];
    const running = await claimed(named.id);
    expect((await claimed(named.id)).jobId).toBe(second.id);
    await settle(current.db, settlementOf(running, failure));
    expect((await claimed(named.id)).jobId).toBe(third.id);
  });

  it('has effect once when two claims of a job without a stamp meet', async () => {
    const job = await createJob(current.db, { userId: await newUser(), jobType: 'import', parameters: {} });
    const first = await current.db.startTransaction().execute();
    const options = { jobId: job.id, actor: 'w1', leaseSeconds: 60 };
    expect(await claimJob(first, options)).toMatchObject({ kind: 'claimed' });
    const second = claimJob(current.db, { ...options, actor: 'w2' });
    await untilSomebodyWaits(current.db);
    await first.commit().execute();
    expect(await second).toMatchObject({ kind: 'not_now' });
    const executions = current.db.selectFrom('task_executions').select(['status', 'worker_id']);
    expect(await executions.execute()).toEqual([{ status: 'RUNNING', worker_id: 'w1' }]);
  });

  it('uses up as many messages as there are jobs, also when a message names a job that has ended', async () => {
    const jobs = await submit(await newUser(), 3);
    const last = jobs[2]!.id;
    for (const _ of jobs) await settle(current.db, endingOf(await claimed(last)));
    expect(await receive(last)).toEqual({ kind: 'ended' });
  });

  it('keeps a message while another job is not due yet, since the message may be the only one for that job', async () => {
    const [first, second] = await submit(await newUser(), 2);
    const retried = await claimed(second!.id); // the message of the second job claims the first
    expect(retried.jobId).toBe(first!.id);
    await settle(current.db, settlementOf(retried, failure));
    await settle(current.db, endingOf(await claimed(first!.id)));
    const claim = await receive(second!.id);
    expect(claim).toEqual({ kind: 'not_now', waitMs: expect.any(Number) });
    await sql`UPDATE task_executions SET run_at = now() WHERE status = 'PENDING'`.execute(current.db);
    expect(await claimed(second!.id)).toMatchObject({ jobId: first!.id, attempt: 2 });
  });

  it('lets a further attempt wait behind no other job', async () => {
    const [a, b] = [await newUser(), await newUser()];
    const [first] = await submit(a, 5);
    await submit(b, 5);
    const job = await claimed(first!.id);
    await settle(current.db, settlementOf(job, failure));
    await sql`UPDATE task_executions SET run_at = now() WHERE status = 'PENDING'`.execute(current.db);
    expect(await claimed(first!.id)).toMatchObject({ jobId: job.jobId, attempt: 2 });
  });

  it('passes over an execution whose job was deleted by hand', async () => {
    const [deleted, job] = await submit(await newUser(), 2);
    await sql`DELETE FROM jobs WHERE id = ${deleted!.id}`.execute(current.db);
    expect((await claimed(deleted!.id)).jobId).toBe(job!.id);
  });
});

describe('the cap on open jobs', () => {
  const create = (userId: string, maxOpen: number) =>
    createCappedJob(current.db, { userId, jobType: 'import', parameters: {} }, maxOpen);

  it('is exact for concurrent creations', async () => {
    const userId = await newUser();
    const created = await Promise.all(Array.from({ length: 20 }, () => create(userId, 5)));
    expect(created.filter((job) => job !== null)).toHaveLength(5);
    const turns = await sql`SELECT DISTINCT turn FROM task_executions WHERE user_id = ${userId}`.execute(
      current.db,
    );
    expect(turns.rows).toHaveLength(5);
  });

  it('counts the jobs of one user that wait or run, and no others', async () => {
    const [userId, other] = [await newUser(), await newUser()];
    await create(userId, 2);
    const second = await create(userId, 2);
    expect(await create(userId, 2)).toBeNull();
    expect(await create(other, 2)).not.toBeNull();
    await settle(current.db, settlementOf(await claimed(second!.id), failure)); // it waits for its next attempt
    expect(await create(userId, 2)).toBeNull();
    const { rows } = await sql`SELECT FROM jobs WHERE user_id = ${userId}`.execute(current.db);
    expect(rows).toHaveLength(2);
    await sql`UPDATE task_executions SET run_at = now() WHERE status = 'PENDING'`.execute(current.db);
    await settle(current.db, endingOf(await claimed(second!.id)));
    expect(await create(userId, 2)).not.toBeNull();
  });

  it('of one type is exact, too, and counts no jobs of other types', async () => {
    const userId = await newUser();
    const createOf = (jobType: string) =>
      createCappedJob(current.db, { userId, jobType, parameters: {} }, 10, 3);
    await createOf('import');
    const created = await Promise.all(Array.from({ length: 20 }, () => createOf('export')));
    expect(created.filter((job) => job !== null)).toHaveLength(3);
    expect(await createOf('import')).not.toBeNull();
  });
});
