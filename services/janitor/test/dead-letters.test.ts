import { DependencyUnavailableError } from '@pasteflow/domain';
import { makePastes, type ExecutionShape } from '@pasteflow/postgres/testing';
import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { DeadLetterAges } from '../src/sweeps/running/findings.ts';
import { createDeadLetters } from '../src/sweeps/dead-letters.ts';
import { callSqs, messagesLeft } from './messages.ts';
import { connect, useWorld, running, UPLOADS } from './world.ts';

const world = useWorld();

const DEAD_LETTERS = `${UPLOADS}-dead-letters`;
const nothing = { unreadable: 0, alive: 0, ended: 0, left_to_relay: 0, failed: 0, given_up: 0 };

const ages = new DeadLetterAges();

const sweep = (queues = world.queues) =>
  createDeadLetters({
    ...world,
    queues,
    actor: 'janitor/test',
    leaseSeconds: 6,
    random: () => 0.5,
    deadLetterAges: ages,
    logger: world.log,
  });

async function bury(...bodies: string[]): Promise<void> {
  for (const MessageBody of bodies)
    await callSqs(world.stack.aws.endpoint, 'SendMessage', DEAD_LETTERS, { MessageBody });
}
const messageFor = (shortCode: string) => JSON.stringify({ shortCode });
const upload = (shortCode: string, execution: ExecutionShape) =>
  makePastes(world.db, 1, { status: 'IN_PROGRESS', shortCodes: [shortCode], execution });
const executions = () =>
  world.db
    .selectFrom('task_executions')
    .select(['attempt', 'losses', 'status', 'error', 'dispatched_at', 'worker_id'])
    .select(sql<number>`extract(epoch FROM run_at - created_at)::float8`.as('waits'))
    .orderBy('attempt')
    .orderBy('losses')
    .execute();

describe('dead-letters', () => {
  it('reports the age of the oldest message of its last run, for each queue', async () => {
    await bury('{}', '{}');
    await sweep().runOnce(running());
    expect(ages.secondsOf('upload')).toBeGreaterThanOrEqual(0);
    expect(ages.secondsOf('upload')).toBeLessThan(60);
    expect(ages.secondsOf('job')).toBeNull();
    await sweep().runOnce(running());
    expect(ages.secondsOf('upload')).toBeNull();
  });

  it('drops unreadable messages, and logs their ids and the reason, never their content', async () => {
    await bury(
      'secret, not JSON',
      '{"shortCode":"abc","contentBytes":"no base64, but a secret"}',
      '{"shortCode":"../../secret"}',
      '[]',
    );
    expect(await sweep().runOnce(running())).toEqual({ ...nothing, unreadable: 4 });
    expect(await messagesLeft(world, DEAD_LETTERS)).toBe(0);
    expect(world.log.lines).toHaveLength(4);
    for (const { level, fields } of world.log.lines) {
      expect([level, fields]).toEqual([
        'error',
        {
          message_id: expect.stringMatching(/^[\da-f-]{36}$/),
          reason: expect.stringContaining('Not an upload message'),
        },
      ]);
    }
    expect(JSON.stringify(world.log.lines)).not.toContain('secret');
  });

  it('ends the due execution of an upload, spends no attempt, and leaves the next one, after its wait, to the relay', async () => {
    await upload('due', { status: 'PENDING', attempt: 3, dispatchedSecondsAgo: 60 });
    await bury(messageFor('due'));
    expect(await sweep().runOnce(running())).toEqual({ ...nothing, failed: 1 });
    const [ended, next] = await executions();
    expect(ended).toMatchObject({
      attempt: 3,
      status: 'FAILED',
      error: 'dead letter: received too often without an outcome',
      worker_id: 'janitor/test',
    });
    expect(next).toMatchObject({ attempt: 3, losses: 1, status: 'PENDING', dispatched_at: null, waits: 1 });
    expect(await messagesLeft(world, DEAD_LETTERS)).toBe(0);
  });

  it('never makes a paste FAILED, whatever its attempt and its losses', async () => {
    await upload('last', { status: 'PENDING', attempt: 6, losses: 40 });
    await bury(messageFor('last'));
    expect(await sweep().runOnce(running())).toEqual({ ...nothing, failed: 1 });
    expect((await executions())[1]).toMatchObject({ attempt: 6, losses: 41, status: 'PENDING', waits: 60 });
    expect(await world.db.selectFrom('pastes').select('status').execute()).toEqual([
      { status: 'IN_PROGRESS' },
    ]);
  });

  it('counts one loss for several messages of one upload', async () => {
    await upload('twice', { status: 'PENDING' });
    await bury(messageFor('twice'), messageFor('twice'));
    expect(await sweep().runOnce(running())).toMatchObject({ failed: 1 });
    expect((await executions()).map(({ losses }) => losses)).toEqual([0, 1]);
    expect(await messagesLeft(world, DEAD_LETTERS)).toBe(0);
  });

  it('acknowledges messages of uploads that run elsewhere, are not due yet or have ended, and changes nothing', async () => {
    await upload('running', { status: 'RUNNING', leaseSeconds: 60 });
    await upload('later', { status: 'PENDING', dueSecondsAgo: -16 });
    await makePastes(world.db, 1, { status: 'PROCESSED', shortCodes: ['stored'] });
    const before = await executions();
    await bury(messageFor('running'), messageFor('later'), messageFor('stored'), messageFor('unknown'));
    expect(await sweep().runOnce(running())).toEqual({ ...nothing, alive: 2, ended: 2 });
    const comparable = (rows: typeof before) =>
      rows.map(({ attempt, status, worker_id }) => [attempt, status, worker_id]);
    expect(comparable(await executions())).toEqual(comparable(before));
    expect(await messagesLeft(world, DEAD_LETTERS)).toBe(0);
  });

  it('drains more than one batch', async () => {
    await makePastes(world.db, 25, { status: 'IN_PROGRESS' });
    const rows = await world.db.selectFrom('pastes').select('short_code').execute();
    await bury(...rows.map(({ short_code }) => messageFor(short_code)), 'poison');
    expect(await sweep().runOnce(running())).toEqual({ ...nothing, failed: 25, unreadable: 1 });
    expect(await messagesLeft(world, DEAD_LETTERS)).toBe(0);
  });

  it('acknowledges no message while Postgres is down', async () => {
    await upload('due', { status: 'PENDING' });
    await bury(messageFor('due'));
    const nowhere = connect('postgres://pasteflow:x@127.0.0.1:1/none', 1);
    await expect(sweep(world.queuesOn(nowhere)).runOnce(running())).rejects.toThrow(
      DependencyUnavailableError,
    );
    await nowhere.destroy();
    expect(world.proxy.matching({ target: 'ReceiveMessage' })).toHaveLength(2); // one for each queue
    expect(world.proxy.matching({ target: 'DeleteMessageBatch' })).toEqual([]);
  });
});

describe('the age of the oldest dead letter', () => {
  it('is dropped after 10 minutes without a run', () => {
    let nowMs = 1_000_000;
    const ages = new DeadLetterAges(() => nowMs);
    ages.saw('upload', nowMs - 5000);
    nowMs += 600_000;
    expect(ages.secondsOf('upload')).toBe(605);
    nowMs += 1;
    expect(ages.secondsOf('upload')).toBeNull();
  });
});
