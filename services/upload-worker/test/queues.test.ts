import { describe, expect, it } from '@jest/globals';
import { createPaste } from '@pasteflow/postgres';
import { ConfigError, loadConfig } from '@pasteflow/runtime';
import { createQueue, queueDepth, receiveDeadLetters, sendUploads } from '@pasteflow/sqs';
import { configSchema } from '../src/config.ts';
import { callSqs, completed, JOBS, jobType, until, useBench } from './support/bench.ts';
import { newPaste } from './support/database.ts';

const bench = useBench();
const UPLOADS = 'pasteflow-uploads';

const uploads = () => createQueue(bench.sqs, UPLOADS);
const types = [jobType('any', () => Promise.resolve(completed))];

async function submitUpload(shortCode: string): Promise<void> {
  const paste = newPaste(shortCode);
  const created = await createPaste(bench.db, paste);
  await sendUploads(bench.sqs, uploads(), [
    { executionId: created!.executionId, shortCode, content: paste.content, context: {} },
  ]);
}

const statusOf = async (shortCode: string) =>
  (
    await bench.db
      .selectFrom('pastes')
      .select('status')
      .where('short_code', '=', shortCode)
      .executeTakeFirstOrThrow()
  ).status;

/** The queues from which workers have received. */
const receivedFrom = () =>
  new Set(
    bench.proxy
      .matching({ target: 'ReceiveMessage' })
      .map(({ body }) => (JSON.parse(String(body)) as { QueueUrl: string }).QueueUrl.split('/').at(-1)),
  );

describe('UPLOAD_WORKER_QUEUES', () => {
  it('=jobs makes a worker run jobs only', async () => {
    await submitUpload('unclaimed');
    const id = await bench.submit('any');
    await bench.start(types, { env: { UPLOAD_WORKER_QUEUES: 'jobs' } });
    await bench.untilEnded(id);
    expect([...receivedFrom()]).toEqual([JOBS]);
    expect([await statusOf('unclaimed'), await queueDepth(bench.sqs, uploads())]).toEqual(['IN_PROGRESS', 1]);
  });

  it('=uploads makes a worker run uploads only', async () => {
    await submitUpload('claimed');
    const id = await bench.submit('any');
    const worker = await bench.start(types, { env: { UPLOAD_WORKER_QUEUES: 'uploads' } });
    await until(
      () => statusOf('claimed'),
      (status) => status === 'PROCESSED',
    );
    await worker.stop();
    expect([...receivedFrom()]).toEqual([UPLOADS]);
    expect([(await bench.job(id)).status, await queueDepth(bench.sqs, bench.jobs)]).toEqual(['queued', 1]);
    await bench.start(types);
    await bench.untilEnded(id);
  });

  it('makes a worker run both by default', async () => {
    await submitUpload('both');
    const id = await bench.submit('any');
    await bench.start(types, { env: { UPLOAD_WORKER_QUEUES: '' } });
    await bench.untilEnded(id);
    await until(
      () => statusOf('both'),
      (status) => status === 'PROCESSED',
    );
    expect(receivedFrom()).toEqual(new Set([JOBS, UPLOADS]));
  });

  it.each(['mail', 'uploads,', ','])('=%s is refused', (UPLOAD_WORKER_QUEUES) => {
    const env = { DATABASE_URL: 'postgres://x/y', AWS_ENDPOINT_URL: 'http://x', UPLOAD_WORKER_QUEUES };
    const load = () => loadConfig(configSchema, env);
    expect(load).toThrow(ConfigError);
    expect(load).toThrow(
      /UPLOAD_WORKER_QUEUES .* set it to one or more of uploads, jobs, webhooks, separated by commas/,
    );
  });

  it('=webhooks is refused without a key, because the worker would do nothing', () => {
    const env = {
      DATABASE_URL: 'postgres://x/y',
      AWS_ENDPOINT_URL: 'http://x',
      UPLOAD_WORKER_QUEUES: 'webhooks',
    };
    expect(() => loadConfig(configSchema, env)).toThrow(
      /UPLOAD_WORKER_QUEUES is webhooks alone, .* WEBHOOK_KEY/,
    );
    expect(loadConfig(configSchema, { ...env, WEBHOOK_KEY: 'k'.repeat(32) })).toMatchObject({
      consumed: ['webhooks'],
    });
  });
});

describe('a message that no worker can read', () => {
  it('moves to the dead-letter queue of its own queue, and jobs continue', async () => {
    const deadLetters = createQueue(bench.sqs, `${JOBS}-dead-letters`);
    await callSqs(bench.stack.aws.endpoint, 'SendMessage', JOBS, { MessageBody: '{"jobId":"poison"}' });
    const id = await bench.submit('any');
    const worker = await bench.start(types);
    await bench.untilEnded(id);
    await until(
      () => queueDepth(bench.sqs, deadLetters),
      (depth) => depth === 1,
    );
    await worker.stop();
    expect((await receiveDeadLetters(bench.sqs, deadLetters)).map(({ Body }) => Body)).toEqual([
      '{"jobId":"poison"}',
    ]);
    expect(await queueDepth(bench.sqs, bench.jobs)).toBe(0);
    expect(await worker.metrics.text()).toMatch(/job_malformed_messages_total\{.*\} 1/);
  });
});
