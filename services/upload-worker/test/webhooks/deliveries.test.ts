import { describe, expect, it } from '@jest/globals';
import {
  findWebhook,
  pauseKind,
  removeWebhook,
  resumeKind,
  rotateWebhook,
  sendAgain,
  switchOffWebhook,
} from '@pasteflow/postgres';
import { webhookSecret } from '@pasteflow/service-kit';
import { Webhook } from 'standardwebhooks';
import { completed, jobType, until, useBench } from '../support/bench.ts';
import { allEnded, useWebhooks, WEBHOOK_KEY } from '../support/webhooks.ts';

const bench = useBench();
const webhooks = useWebhooks(bench);

const verify = (secret: string, { headers, body }: { readonly headers: object; readonly body: string }) =>
  new Webhook(secret).verify(body, headers as Record<string, string>);

describe('a delivery', () => {
  it('is sent once, signed, and says what happened', async () => {
    const endpoint = await webhooks.listen();
    const worker = await webhooks.start();
    const jobId = await webhooks.endJob();
    const [delivery] = await webhooks.untilDeliveries(endpoint, allEnded(1));
    expect(delivery).toMatchObject({ status: 'DELIVERED', answered: 204, attempt: 1, error: null });
    expect(endpoint.received).toHaveLength(1);
    const [received] = endpoint.received;
    expect(received!.headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': 'Pasteflow-Webhooks',
      'webhook-id': delivery!.eventId,
    });
    expect(verify(webhookSecret(WEBHOOK_KEY, endpoint.id, 1), received!)).toEqual({
      type: 'job.ended',
      timestamp: delivery!.happenedAt.toISOString(),
      data: { job_id: jobId },
    });
    const text = await worker.metrics.text();
    expect(text).toMatch(/webhook_attempts_total\{.*outcome="succeeded",next_step="done".*\} 1/);
    expect(text).toMatch(/webhook_deliveries_ended_total\{.*status="DELIVERED".*\} 1/);
  });

  it('is signed with the secret before as well during a rotation', async () => {
    const endpoint = await webhooks.listen();
    await rotateWebhook(bench.db, endpoint.id, bench.userId);
    await webhooks.start();
    await webhooks.endJob();
    await webhooks.untilDeliveries(endpoint, allEnded(1));
    const [received] = endpoint.received;
    for (const generation of [1, 2])
      expect(verify(webhookSecret(WEBHOOK_KEY, endpoint.id, generation), received!)).toMatchObject({
        type: 'job.ended',
      });
    expect(() => verify(webhookSecret(WEBHOOK_KEY, endpoint.id, 3), received!)).toThrow();
  });

  it('is attempted again with its id when the endpoint fails, and not before the endpoint asks for it', async () => {
    const answers = [503, 500, 204];
    const endpoint = await webhooks.listen({
      answer: (res) => void res.writeHead(answers.shift()!, { 'retry-after': '3600' }).end(),
    });
    await webhooks.start();
    await webhooks.endJob();
    const due = async (attempt: number) => {
      const [delivery] = await webhooks.untilDeliveries(
        endpoint,
        ([first]) => first?.attempt === attempt && first.nextAttemptAt !== null,
      );
      expect(delivery!.status).toBe('WAITING');
      return delivery!;
    };
    const second = await due(2);
    expect(second).toMatchObject({ answered: 503, error: 'endpoint failed: answered 503' });
    expect(second.nextAttemptAt!.getTime() - second.createdAt.getTime()).toBeGreaterThanOrEqual(3_600_000);
    await webhooks.hurry();
    const third = await due(3);
    expect(third).toMatchObject({ answered: 500, error: 'endpoint failed: answered 500' });
    await webhooks.hurry();
    const [delivery] = await webhooks.untilDeliveries(endpoint, allEnded(1));
    expect(delivery).toMatchObject({ status: 'DELIVERED', attempt: 3 });
    expect(endpoint.received.map(({ headers }) => headers['webhook-id'])).toEqual(
      Array.from({ length: 3 }, () => delivery!.eventId),
    );
  });

  it('ends when the endpoint is gone, which switches that off, so that nothing more is sent', async () => {
    const endpoint = await webhooks.listen({ answer: (res) => void res.writeHead(410).end() });
    await webhooks.start();
    await webhooks.endJob();
    const [delivery] = await webhooks.untilDeliveries(endpoint, allEnded(1));
    expect(delivery).toMatchObject({ status: 'FAILED', attempt: 1, answered: 410 });
    expect(await findWebhook(bench.db, endpoint.id, bench.userId)).toMatchObject({ switchedOffFor: 'gone' });
    await webhooks.endJob();
    await webhooks.untilDeliveries(endpoint, allEnded(1));
    expect(await sendAgain(bench.db, { endpointId: endpoint.id, deliveryId: delivery!.id })).toBe('off');
    expect(endpoint.received).toHaveLength(1);
  });

  it('fails, and nothing is sent, when its endpoint is off or removed', async () => {
    const [off, removed] = [await webhooks.listen(), await webhooks.listen()];
    await webhooks.endJob();
    await switchOffWebhook(bench.db, off.id);
    await removeWebhook(bench.db, removed.id, bench.userId);
    await webhooks.start();
    for (const endpoint of [off, removed]) {
      const [delivery] = await webhooks.untilDeliveries(endpoint, allEnded(1));
      expect(delivery).toMatchObject({
        status: 'FAILED',
        answered: null,
        error: 'endpoint off: it was removed or switched off before this attempt',
      });
      expect(endpoint.received).toEqual([]);
    }
    expect(await findWebhook(bench.db, off.id, bench.userId)).toMatchObject({ failingSince: null });
  });

  it('waits while webhooks are paused', async () => {
    const endpoint = await webhooks.listen();
    await pauseKind(bench.db, 'webhooks', { actor: 'ops/test', reason: 'a test' });
    const statements: string[] = [];
    await webhooks.start({ onStatement: ({ query }) => statements.push(query.sql) });
    await webhooks.endJob();
    const before = statements.length;
    const claims = () => statements.slice(before).filter((text) => text.includes('next_deliveries')).length;
    await until(
      async () => claims(),
      (count) => count >= 3,
    );
    expect(endpoint.received).toEqual([]);
    await resumeKind(bench.db, 'webhooks');
    await webhooks.untilDeliveries(endpoint, allEnded(1));
    expect(endpoint.received).toHaveLength(1);
  });

  it('is sent once by two workers', async () => {
    const endpoint = await webhooks.listen();
    for (let n = 0; n < 40; n += 1) await webhooks.endJob();
    await Promise.all([webhooks.start(), webhooks.start()]);
    await webhooks.untilDeliveries(endpoint, allEnded(40));
    expect(endpoint.received).toHaveLength(40);
    expect(new Set(endpoint.received.map(({ headers }) => headers['webhook-id'])).size).toBe(40);
  });
});

it.each([
  ['without WEBHOOK_KEY', { WEBHOOK_KEY: '', UPLOAD_WORKER_QUEUES: 'jobs,webhooks' }],
  ['when it is told to run jobs alone', { UPLOAD_WORKER_QUEUES: 'jobs' }],
])('sends nothing %s', async (_, env) => {
  const endpoint = await webhooks.listen();
  await webhooks.endJob();
  const statements: string[] = [];
  const brief = jobType('brief', () => Promise.resolve(completed));
  const worker = await webhooks.start(
    { onStatement: ({ query }) => statements.push(query.sql), jobTypes: new Map([[brief.name, brief]]) },
    env,
  );
  await bench.untilEnded(await bench.submit(brief.name));
  await worker.stop();
  expect(statements.filter((text) => text.includes('next_deliveries'))).toEqual([]);
  expect(endpoint.received).toEqual([]);
});
