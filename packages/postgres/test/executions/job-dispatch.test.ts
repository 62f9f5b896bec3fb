import { describe, expect, it } from '@jest/globals';
import {
  countWaiting,
  findOverdue,
  findUndispatched,
  findZombies,
  jobSubject,
  stampDispatched,
  uploadSubject,
} from '../../src/index.ts';
import { makeJobs, makePastes, makeUsers, type JobShape } from '../../src/testing/index.ts';
import { useDatabase } from '../support/database.ts';
import { reap, runningJob } from '../support/jobs.ts';

const current = useDatabase();

async function make(shape: object, count = 1) {
  const [user] = await makeUsers(current.db, 1);
  return makeJobs(current.db, count, { userId: user!.id, ...shape } as JobShape);
}

const found = (jobs: readonly { jobId: string }[]) => jobs.map(({ jobId }) => jobId);
const only = (items: readonly object[]) => ({ items, orphans: 0 });
const waits = (dispatchedSecondsAgo: number | null, dueSecondsAgo = 100) =>
  ({ execution: { status: 'PENDING', dispatchedSecondsAgo, dueSecondsAgo } }) as const;

describe('the messages of jobs that the relay finds', () => {
  it('are the undispatched ones that have been due for the grace, the longest due first', async () => {
    const [second] = await make({ status: 'queued', ...waits(null, 20) });
    const [first] = await make({ status: 'processing', ...waits(null, 30) });
    await make({ status: 'queued', ...waits(null, 1) });
    await make({ status: 'queued', ...waits(null, -60) });
    await make({ status: 'queued', ...waits(50) });
    await make({ status: 'processing' });
    await make({ status: 'completed' });
    await makePastes(current.db, 3, { status: 'IN_PROGRESS' });
    const { items: due } = await findUndispatched(current.db, jobSubject, { graceSeconds: 5, limit: 10 });
    expect(due).toEqual([
      { jobId: first!.id, executionId: first!.executionId },
      { jobId: second!.id, executionId: second!.executionId },
    ]);
    expect(await findUndispatched(current.db, jobSubject, { graceSeconds: 5, limit: 1 })).toEqual(
      only(due.slice(0, 1)),
    );
    await stampDispatched(
      current.db,
      due.map(({ executionId }) => executionId),
    );
    expect(await findUndispatched(current.db, jobSubject, { graceSeconds: 5, limit: 10 })).toEqual(only([]));
  });

  it('are the overdue ones, sent and due long ago and not claimed, the longest sent first', async () => {
    const [second] = await make({ status: 'queued', ...waits(40) });
    const [first] = await make({ status: 'processing', ...waits(50) });
    await make({ status: 'queued', ...waits(10) });
    await make({ status: 'queued', ...waits(50, 10) });
    await make({ status: 'queued', ...waits(null) });
    await make({ status: 'processing' });
    const { items: due } = await findOverdue(current.db, jobSubject, { olderThanSeconds: 30, limit: 10 });
    expect(found(due)).toEqual([first!.id, second!.id]);
  });

  it('include no upload, and those of uploads include no job', async () => {
    await make({ status: 'queued', ...waits(null) }, 2);
    await make({ status: 'queued', ...waits(90) }, 2);
    await makePastes(current.db, 3, { status: 'IN_PROGRESS' });
    await makePastes(current.db, 3, { status: 'IN_PROGRESS', ...waits(90) });
    const grace = { graceSeconds: 0, limit: 10 };
    const old = { olderThanSeconds: 30, limit: 10 };
    expect((await findUndispatched(current.db, jobSubject, grace)).items).toHaveLength(2);
    expect((await findOverdue(current.db, jobSubject, old)).items).toHaveLength(2);
    expect((await findUndispatched(current.db, uploadSubject, grace)).items).toHaveLength(3);
    expect((await findOverdue(current.db, uploadSubject, old)).items).toHaveLength(3);
  });

  it('include the successor of a lost attempt at once', async () => {
    const job = await runningJob(current.db);
    const settled = await reap(current.db, job);
    expect(await findUndispatched(current.db, jobSubject, { graceSeconds: 0, limit: 10 })).toEqual(
      only([{ jobId: job.jobId, executionId: settled!.successorId }]),
    );
  });
});

describe('the count of jobs that wait for a worker', () => {
  it('has the due jobs that were ever dispatched, and stops at its limit', async () => {
    await make({ status: 'queued', ...waits(40) }, 3);
    await make({ status: 'processing', ...waits(1, 0) });
    await make({ status: 'processing', ...waits(1, -60) });
    await make({ status: 'queued', ...waits(null) }, 2);
    await make({ status: 'processing' }, 2);
    await make({ status: 'completed' });
    await makePastes(current.db, 3, { status: 'IN_PROGRESS', ...waits(90) });
    expect(await countWaiting(current.db, jobSubject, { limit: 10 })).toBe(4);
    expect(await countWaiting(current.db, jobSubject, { limit: 3 })).toBe(3);
  });
});

describe('zombies', () => {
  it('are found by kind, the longest overdue first, with the name of their job', async () => {
    const zombie = (leaseSeconds: number) =>
      ({ execution: { status: 'RUNNING', leaseSeconds, attempt: 3, workerId: 'w9' } }) as const;
    const [second] = await make({ status: 'processing', ...zombie(-10) });
    const [first] = await make({ status: 'processing', ...zombie(-20) });
    await make({ status: 'processing', ...zombie(5) });
    const [upload] = await makePastes(current.db, 1, { status: 'IN_PROGRESS', ...zombie(-30) });
    expect(await findZombies(current.db, jobSubject, 10)).toEqual(
      only(
        [first, second].map((job) => ({
          executionId: job!.executionId,
          attempt: 3,
          losses: 0,
          workerId: 'w9',
          jobId: job!.id,
          jobType: 'import',
        })),
      ),
    );
    expect(await findZombies(current.db, uploadSubject, 10)).toMatchObject(
      only([{ executionId: upload!.executionId }]),
    );
  });
});
