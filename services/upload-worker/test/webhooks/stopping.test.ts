import { decideNextStep, WORKER_LOST } from '@pasteflow/domain';
import { deliverySubject, settleExecutions } from '@pasteflow/postgres';
import { describe, expect, it } from '@jest/globals';
import { until, useBench } from '../support/bench.ts';
import { allEnded, useWebhooks } from '../support/webhooks.ts';

const bench = useBench();
const webhooks = useWebhooks(bench);

const attempts = async () => {
  const rows = await bench.db
    .selectFrom('task_executions')
    .select(['attempt', 'status', 'error'])
    .where('kind', '=', 'webhook')
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return rows.map(({ attempt, status, error }) => [attempt, status, error]);
};

describe('a worker that stops', () => {
  it('lets a delivery end within the grace', async () => {
    const requested = Promise.withResolvers<void>();
    const ending = Promise.withResolvers<void>();
    const endpoint = await webhooks.listen({
      answer: (res) => {
        requested.resolve();
        void ending.promise.then(() => res.writeHead(204).end());
      },
    });
    const worker = await webhooks.start({ stopGraceMs: 60_000 });
    await webhooks.endJob();
    await requested.promise;
    const stopped = worker.stop();
    ending.resolve();
    await stopped;
    const [delivery] = await webhooks.untilDeliveries(endpoint, allEnded(1));
    expect(delivery).toMatchObject({ status: 'DELIVERED', attempt: 1 });
  });

  it('interrupts it after the grace, which spends no attempt, and another worker sends it again', async () => {
    const closed = Promise.withResolvers<void>();
    let answers = false;
    const endpoint = await webhooks.listen({
      answer: (res, req) => {
        if (answers) return void res.writeHead(204).end();
        req.socket.on('close', () => closed.resolve());
      },
    });
    const worker = await webhooks.start({ stopGraceMs: 10 });
    await webhooks.endJob();
    await until(
      async () => endpoint.received.length,
      (count) => count === 1,
    );
    await worker.stop();
    await closed.promise;
    answers = true;
    await webhooks.start();
    await webhooks.untilDeliveries(endpoint, allEnded(1));
    expect((await attempts()).slice(-2)).toEqual([
      [1, 'FAILED', 'interrupted'],
      [1, 'SUCCEEDED', null],
    ]);
    const [first, second] = endpoint.received;
    expect(second!.headers['webhook-id']).toBe(first!.headers['webhook-id']);
  });
});

it('drops an attempt whose execution another process has ended, and does not count its outcome', async () => {
  const closed = Promise.withResolvers<void>();
  let answers = false;
  const endpoint = await webhooks.listen({
    answer: (res, req) => {
      if (answers) return void res.writeHead(204).end();
      req.socket.on('close', () => closed.resolve());
    },
  });
  const worker = await webhooks.start({}, { EXECUTION_LEASE_SECONDS: '2' });
  await webhooks.endJob();
  await until(
    async () => endpoint.received.length,
    (count) => count === 1,
  );
  answers = true;
  const { id } = await bench.db
    .selectFrom('task_executions')
    .select('id')
    .where('kind', '=', 'webhook')
    .where('status', '=', 'RUNNING')
    .executeTakeFirstOrThrow();
  const outcome = { kind: 'lost', error: WORKER_LOST } as const;
  const nextStep = decideNextStep(outcome, { attempt: 1, losses: 0 }, { delaysMs: [], jitterMs: 0 }, 0.5);
  await settleExecutions(
    bench.db,
    deliverySubject,
    [{ executionId: id, outcome, nextStep, answered: null, endpoint: null }],
    { actor: 'janitor/test', dispatched: false },
  );
  await closed.promise; // by the next renewal of the lease
  await webhooks.untilDeliveries(endpoint, allEnded(1));
  expect((await attempts()).slice(-2)).toEqual([
    [1, 'FAILED', WORKER_LOST],
    [1, 'SUCCEEDED', null],
  ]);
  expect(endpoint.received).toHaveLength(2);
  const text = await worker.metrics.text();
  expect(text).toMatch(/webhook_leases_lost_total\{.*\} 1/);
  expect(text).toMatch(/webhook_settlements_lost_total\{.*\} 1/);
});
