import { defaultRetryPolicy, DependencyUnavailableError } from '@pasteflow/domain';
import { makeJobs, makePastes, type ExecutionShape } from '@pasteflow/postgres/testing';
import { Metrics } from '@pasteflow/runtime';
import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { createReapExecutions } from '../src/sweeps/reap-executions.ts';
import { createRelay } from '../src/sweeps/relay.ts';
import { createUploadQueue } from '../src/sweeps/queues/queues.ts';
import { drain } from './messages.ts';
import { useWorld, JOBS, running, UPLOADS } from './world.ts';

const world = useWorld();

const relay = () => createRelay({ ...world, relayGraceSeconds: 1, relayRedispatchAfterSeconds: 30 });
const base = () => ({
  ...world,
  db: world.janitorDb,
  actor: 'janitor/test',
  random: () => 0.5,
  logger: world.log,
});
const reaper = () => createReapExecutions(base());

const queued = (count: number, execution?: Extract<ExecutionShape, { status: 'PENDING' }>) =>
  makeJobs(world.db, count, { userId: world.userId, status: 'queued', ...(execution && { execution }) });
const processing = (execution: ExecutionShape, assets = 0) =>
  makeJobs(world.db, 1, { userId: world.userId, status: 'processing', execution, assets });
const zombie = (losses: number, assets = 0) =>
  processing({ status: 'RUNNING', losses, workerId: 'upload-worker/dead', leaseSeconds: -1 }, assets);

const messageFor = (jobId: string) => JSON.stringify({ jobId });
const job = (id: string) =>
  world.db.selectFrom('jobs').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
const executions = () =>
  world.db
    .selectFrom('task_executions')
    .select(['attempt', 'losses', 'status', 'error', 'dispatched_at'])
    .select(sql<number>`extract(epoch FROM run_at - created_at)::float8`.as('waits'))
    .orderBy('attempt')
    .orderBy('losses')
    .execute();

describe('relay, for jobs', () => {
  it('sends undispatched and overdue messages to the queue of jobs', async () => {
    const unsent = await queued(12);
    expect(await relay().runOnce(running())).toEqual({ sent: 12, resent: 0, postponed: 0 });
    expect((await drain(world, JOBS)).toSorted()).toEqual(unsent.map(({ id }) => messageFor(id)).toSorted());
    expect(await relay().runOnce(running())).toEqual({ sent: 0, resent: 0, postponed: 0 });
    const [overdue] = await queued(1, { status: 'PENDING', dueSecondsAgo: 31, dispatchedSecondsAgo: 31 });
    expect(await relay().runOnce(running())).toEqual({ sent: 0, resent: 1, postponed: 0 });
    expect(await drain(world, JOBS)).toEqual([messageFor(overdue!.id)]);
    expect(await drain(world, UPLOADS)).toEqual([]);
  });

  it('adds up the counts of uploads and jobs, and serves one queue while the other fails', async () => {
    await makePastes(world.db, 3, { status: 'IN_PROGRESS' });
    await queued(2);
    expect(await relay().runOnce(running())).toEqual({ sent: 5, resent: 0, postponed: 0 });
    expect([await drain(world, JOBS), await drain(world, UPLOADS)].map(({ length }) => length)).toEqual([
      2, 3,
    ]);
    await makePastes(world.db, 3, { status: 'IN_PROGRESS' });
    await queued(2);
    const metrics = new Metrics('janitor', { process: false });
    const janitor = { ...world, db: world.janitorDb, logger: world.log, metrics };
    const uploads = createUploadQueue(janitor, 'no-such-queue', defaultRetryPolicy);
    const limping = createRelay({
      queues: [uploads, world.queues[1]!],
      relayGraceSeconds: 1,
      relayRedispatchAfterSeconds: 30,
    });
    await expect(limping.runOnce(running())).rejects.toThrow(DependencyUnavailableError);
    expect(await drain(world, JOBS)).toHaveLength(2);
  });
});

describe('reap-executions, for jobs', () => {
  it('ends the execution of a crashed worker, logs it, and sends the message of the next execution', async () => {
    const [made] = await zombie(2);
    expect(await reaper().runOnce(running())).toMatchObject({ lost: 1, rescued: 1, dispatched: 1 });
    expect(await executions()).toMatchObject([
      { attempt: 1, losses: 2, status: 'FAILED', error: 'worker lost: upload-worker/dead' },
      { attempt: 1, losses: 3, status: 'PENDING', dispatched_at: expect.any(Date) },
    ]);
    expect((await job(made!.id)).status).toBe('processing');
    expect(await drain(world, JOBS)).toEqual([messageFor(made!.id)]);
    expect(world.log.lines).toMatchObject([
      {
        level: 'warn',
        message: 'job attempt failed',
        fields: { job_id: made!.id, execution_id: made!.executionId, outcome: 'lost' },
      },
    ]);
  });

  it.each([
    [0, 'failed', null],
    [2, 'partial', { assets: 2 }],
  ])(
    'ends a job that was lost for the sixth time: with %s assets, the job is %s',
    async (assets, status, result) => {
      const [made] = await zombie(5, assets);
      expect(await reaper().runOnce(running())).toMatchObject({ lost: 1, given_up: 1, dispatched: 0 });
      expect(await job(made!.id)).toMatchObject({
        status,
        result,
        error_message: 'lost too often: lost 6 times; the last: worker lost',
      });
      expect(world.log.lines.at(-1)).toMatchObject({
        message: 'job ended',
        fields: { job_id: made!.id, status },
      });
    },
  );

  it('leaves the message to the relay while SQS is down, and logs it', async () => {
    await zombie(1);
    world.proxy.rule({ target: 'SendMessageBatch' }, { kind: 'fail', status: 500 });
    expect(await reaper().runOnce(running())).toMatchObject({ lost: 1, rescued: 1, dispatched: 0 });
    expect(world.log.lines.at(-1)).toMatchObject({ message: 'messages of rescued jobs left to the relay' });
  });
});
