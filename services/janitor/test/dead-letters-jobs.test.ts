import { makeJobs } from '@pasteflow/postgres/testing';
import { describe, expect, it } from '@jest/globals';
import { DeadLetterAges } from '../src/sweeps/running/findings.ts';
import { createDeadLetters } from '../src/sweeps/dead-letters.ts';
import { createRelay } from '../src/sweeps/relay.ts';
import { callSqs, messagesLeft } from './messages.ts';
import { useWorld, JOBS, running } from './world.ts';

const world = useWorld();

const DEAD_LETTERS = `${JOBS}-dead-letters`;

const sweep = () =>
  createDeadLetters({
    ...world,
    actor: 'janitor/test',
    leaseSeconds: 6,
    random: () => 0.5,
    deadLetterAges: new DeadLetterAges(),
    logger: world.log,
  }).runOnce(running());
const relay = () =>
  createRelay({ queues: world.queues, relayGraceSeconds: 1, relayRedispatchAfterSeconds: 30 }).runOnce(
    running(),
  );

const bury = (body: object | string) =>
  callSqs(world.stack.aws.endpoint, 'SendMessage', DEAD_LETTERS, {
    MessageBody: typeof body === 'string' ? body : JSON.stringify(body),
  });

const everything = async () => ({
  jobs: await world.db.selectFrom('jobs').select(['id', 'status', 'error_message']).orderBy('id').execute(),
  executions: await world.db.selectFrom('task_executions').selectAll().orderBy('id').execute(),
});

/** A job whose message was sent a minute ago, after so many lost attempts. */
const waiting = async (losses = 0) =>
  (
    await makeJobs(world.db, 1, {
      userId: world.userId,
      status: losses === 0 ? 'queued' : 'processing',
      execution: { status: 'PENDING', losses, dueSecondsAgo: 60, dispatchedSecondsAgo: 60 },
    })
  )[0]!;

describe('a dead letter of a job', () => {
  it('changes nothing of the job that it names: its message may have started others', async () => {
    const { id } = await waiting(5); // one more loss would end it
    const before = await everything();
    await bury({ jobId: id });
    expect(await sweep()).toMatchObject({ left_to_relay: 1, failed: 0, given_up: 0 });
    expect(await everything()).toEqual(before);
    expect(await messagesLeft(world, DEAD_LETTERS)).toBe(0);
    expect(world.log.lines).toEqual([
      {
        level: 'warn',
        message: 'dead letters of jobs dropped; the relay replaces them',
        fields: { count: 1 },
      },
    ]);
  });

  it('is replaced by the relay, so that every waiting job has a message again', async () => {
    const { id } = await waiting();
    await waiting();
    await bury({ jobId: id });
    await sweep();
    expect(await relay()).toEqual({ sent: 0, resent: 2, postponed: 0 });
    expect(await messagesLeft(world, JOBS)).toBe(2);
    expect(await relay()).toEqual({ sent: 0, resent: 0, postponed: 0 });
  });

  it('is dropped when its job has ended or no worker can read it', async () => {
    await makeJobs(world.db, 1, { userId: world.userId, status: 'completed' });
    const [job] = await world.db.selectFrom('jobs').select('id').execute();
    await bury({ jobId: job!.id });
    await bury('secret');
    expect(await sweep()).toMatchObject({ left_to_relay: 1, unreadable: 1 });
    expect(await messagesLeft(world, DEAD_LETTERS)).toBe(0);
    expect(await relay()).toEqual({ sent: 0, resent: 0, postponed: 0 });
    expect(JSON.stringify(world.log.lines)).not.toContain('secret');
  });
});
