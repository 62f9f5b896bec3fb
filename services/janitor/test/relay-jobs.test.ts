import { makeJobs, type MadeJob } from '@pasteflow/postgres/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { Relay } from '../src/sweeps/relay.ts';
import { callSqs, drain, messagesLeft } from './messages.ts';
import { createWorld, JOBS, running, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.stop());
beforeEach(() => world.reset());

const relay = () =>
  new Relay({ queues: world.queues, graceSeconds: 1, redispatchAfterSeconds: 30 }).runOnce(running());
const quiet = { sent: 0, resent: 0, postponed: 0 };

/** Jobs that were sent to the queue a minute ago, and what became of their messages. */
const waiting = (count: number, dispatchedSecondsAgo = 60) =>
  makeJobs(world.db, count, {
    userId: world.userId,
    status: 'queued',
    execution: { status: 'PENDING', dueSecondsAgo: 300, dispatchedSecondsAgo },
  });
const atWork = (count: number) => makeJobs(world.db, count, { userId: world.userId, status: 'processing' });

const sqs = <T>(action: string, body: object) => callSqs<T>(world.stack.aws.endpoint, action, JOBS, body);
const messageFor = ({ id }: { id: string }) => JSON.stringify({ jobId: id });
async function send(jobs: readonly MadeJob[]): Promise<void> {
  for (const job of jobs) await sqs('SendMessage', { MessageBody: messageFor(job) });
}
/** As a consumer that has a job at work. */
async function receive(VisibilityTimeout = 600): Promise<{ jobId: string; ReceiptHandle: string } | null> {
  const { Messages = [] } = await sqs<{ Messages?: { Body: string; ReceiptHandle: string }[] }>(
    'ReceiveMessage',
    { MaxNumberOfMessages: 1, VisibilityTimeout },
  );
  const [message] = Messages;
  return message === undefined
    ? null
    : { ReceiptHandle: message.ReceiptHandle, ...(JSON.parse(message.Body) as { jobId: string }) };
}

describe('relay, of jobs that wait for long', () => {
  it('sends none again whose messages are in the queue, behind those of jobs that are at work', async () => {
    await send(await atWork(2));
    for (let n = 0; n < 2; n++) await receive();
    await send(await waiting(30));
    for (let n = 0; n < 3; n++) expect(await relay()).toEqual(quiet);
    expect(await messagesLeft(world, JOBS)).toBe(32);
  });

  it('sends again as many as are lost beside them, those first that were sent the longest ago', async () => {
    await send(await atWork(2));
    for (let n = 0; n < 2; n++) await receive();
    const lost = [...(await waiting(1, 120)), ...(await waiting(1, 110))];
    const present = await waiting(30);
    await send(present);
    expect(await relay()).toEqual({ ...quiet, resent: 2 });
    expect((await drain(world, JOBS)).slice(-2)).toEqual(lost.map(messageFor));
  });

  it('sends all again when all are lost, once in that time', async () => {
    const jobs = await waiting(1203);
    expect(await relay()).toEqual({ ...quiet, resent: 1203 });
    expect(new Set(await drain(world, JOBS))).toEqual(new Set(jobs.map(messageFor)));
    expect(await relay()).toEqual(quiet);
  });

  it('sends a lost one again in the time that the queue takes, whatever its place, and has no message twice for long', async () => {
    const jobs: MadeJob[] = [];
    for (let age = 9; age > 0; age--) jobs.push(...(await waiting(1, 60 + age)));
    await send(jobs.filter((_, place) => place !== 5));
    const ended = new Set<string>();
    let resent = 0;
    let rounds = 0;
    while (ended.size < jobs.length) {
      expect(++rounds).toBeLessThan(3 * jobs.length);
      resent += (await relay()).resent ?? 0;
      expect(await messagesLeft(world, JOBS)).toBeLessThanOrEqual(jobs.length - ended.size + resent);
      const message = await receive();
      if (message !== null) {
        // A job at a time: it ends, and its message is acknowledged, as one is whose job has ended already.
        await sql`UPDATE task_executions SET status = 'RUNNING', worker_id = 'w', started_at = now(), lease_expires_at = now()
          WHERE subject_id = ${message.jobId} AND status = 'PENDING'`.execute(world.db);
        await sql`UPDATE task_executions SET status = 'SUCCEEDED', finished_at = now(), lease_expires_at = NULL
          WHERE subject_id = ${message.jobId} AND status = 'RUNNING'`.execute(world.db);
        await sqs('DeleteMessage', { ReceiptHandle: message.ReceiptHandle });
        ended.add(message.jobId);
      }
      await sql`UPDATE task_executions SET dispatched_at = dispatched_at - interval '10 seconds'
        WHERE status = 'PENDING'`.execute(world.db);
    }
    expect(resent).toBeLessThanOrEqual(3);
  });
});
