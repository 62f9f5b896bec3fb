import { makeJobs, type MadeJob } from '@pasteflow/postgres/testing';
import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { createRelay } from '../src/sweeps/relay.ts';
import { callSqs, drain, messagesLeft } from './messages.ts';
import { useWorld, JOBS, running } from './world.ts';

const world = useWorld();

const relay = () =>
  createRelay({ queues: world.queues, relayGraceSeconds: 1, relayRedispatchAfterSeconds: 30 }).runOnce(
    running(),
  );
const quiet = { sent: 0, resent: 0, postponed: 0 };

/** Jobs whose messages were sent a minute ago. */
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
/** Receives and holds messages, as a consumer that runs a job. */
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

describe('relay, for jobs that wait for a long time', () => {
  it('sends no message again that is still in the queue, behind those of running jobs', async () => {
    await send(await atWork(2));
    for (let n = 0; n < 2; n++) await receive();
    await send(await waiting(30));
    for (let n = 0; n < 3; n++) expect(await relay()).toEqual(quiet);
    expect(await messagesLeft(world, JOBS)).toBe(32);
  });

  it('sends as many messages again as are lost, the longest sent first', async () => {
    await send(await atWork(2));
    for (let n = 0; n < 2; n++) await receive();
    const lost = [...(await waiting(1, 120)), ...(await waiting(1, 110))];
    const present = await waiting(30);
    await send(present);
    expect(await relay()).toEqual({ ...quiet, resent: 2 });
    expect((await drain(world, JOBS)).slice(-2)).toEqual(lost.map(messageFor));
  });

  it('sends all messages again when all are lost, once in the redispatch time', async () => {
    const jobs = await waiting(1203);
    expect(await relay()).toEqual({ ...quiet, resent: 1203 });
    expect(new Set(await drain(world, JOBS))).toEqual(new Set(jobs.map(messageFor)));
    expect(await relay()).toEqual(quiet);
  });

  it('sends a lost message again within one round of the queue, and keeps no duplicate for long', async () => {
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
        // One job at a time: it ends, and its message is acknowledged; so is a message whose job has already
        // ended.
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
