import { describe, expect, it } from '@jest/globals';
import { webhookRetryPolicy } from '@pasteflow/domain';
import { sql } from 'kysely';
import {
  ensureUser,
  findWebhook,
  listDeliveriesTo,
  pauseKind,
  removeOldDeliveries,
  removeWebhook,
  resumeKind,
  sendAgain,
  switchOffWebhook,
  switchOnWebhook,
  type DeliveryPlace,
} from '../../src/index.ts';
import { useDatabase } from '../support/database.ts';
import { explain } from '../support/explain.ts';
import { useWebhooks, error, failed, succeeded, url } from '../support/webhooks.ts';

const current = useDatabase();
const bed = useWebhooks(current);

describe('a claim', () => {
  it('gives what is to be sent, and nothing twice', async () => {
    const endpoint = await bed.listen(['job.ended']);
    const jobId = await bed.endJob();
    const [first, second] = await Promise.all([bed.claim(), bed.claim()]);
    expect([...first.deliveries, ...second.deliveries]).toMatchObject([
      {
        endpointId: endpoint,
        about: jobId,
        attempt: 1,
        losses: 0,
        turnOf: bed.userId,
        endpoint: { url, generation: 1 },
      },
    ]);
  });

  it('lets users take turns, and keeps to the limits for one user and one endpoint', async () => {
    const users = [
      bed.userId,
      await ensureUser(current.db, 'bob'),
      await ensureUser(current.db, 'carol'),
    ].toSorted();
    for (const user of users) await bed.listen(['job.ended'], user);
    for (let n = 0; n < 5; n += 1) await bed.endJob(users[0]);
    await bed.endJob(users[1]);
    await bed.endJob(users[2]);
    const first = await bed.claim({ limit: 2, perUser: 2 });
    expect(first.deliveries.map(({ turnOf }) => turnOf)).toEqual([users[0], users[0]]);
    const second = await bed.claim({ limit: 2, perUser: 2, after: first.next });
    expect(second.deliveries.map(({ turnOf }) => turnOf).toSorted()).toEqual([users[1], users[2]]);
    const third = await bed.claim({ perUser: 3, running: first.deliveries });
    expect(third.deliveries).toHaveLength(1);
    const fourth = await bed.claim({ perEndpoint: 3, running: [...first.deliveries, ...third.deliveries] });
    expect(fourth).toMatchObject({ deliveries: [], next: null });
  });

  it.each([
    { due: 1, pages: 200 },
    { due: 300, pages: 3500 },
  ])(
    'looks at few endpoints when $due deliveries are due, however many others wait',
    async ({ due, pages }) => {
      await sql`
      WITH endpoint AS (
        INSERT INTO webhook_endpoints (url, events) SELECT ${url}, '{upload.failed}' FROM generate_series(1, 600) RETURNING id
      ), delivery AS (
        INSERT INTO webhook_deliveries (endpoint_id, event_id, type, about, occurrence)
        SELECT id, uuid_v7(), 'upload.failed', 'code', id::text FROM endpoint RETURNING id, endpoint_id
      )
      INSERT INTO task_executions (kind, subject_id, endpoint_id, attempt, run_at)
      SELECT 'webhook', id, endpoint_id, 1, now() + CASE WHEN row_number() OVER (ORDER BY endpoint_id DESC) > ${due} THEN '1 hour' ELSE '0 s' END::interval
      FROM delivery`.execute(current.db);
      const { buffers } = await explain(current.url, (db) => bed.claim({}, db));
      expect(buffers).toBeLessThan(pages);
      const found: string[] = [];
      let after: DeliveryPlace | null = null;
      do {
        const claim = await bed.claim({ after, limit: 1000 });
        found.push(...claim.deliveries.map(({ endpointId }) => endpointId).toSorted());
        after = claim.next;
      } while (after !== null);
      expect(new Set(found).size).toBe(due);
      expect(found).toEqual(found.toSorted());
    },
  );

  it('takes nothing while the kind is paused', async () => {
    await bed.listen(['job.ended']);
    await bed.endJob();
    await pauseKind(current.db, 'webhooks', { actor: 'janitor/test', reason: 'test' });
    expect(await bed.claim()).toEqual({ deliveries: [], next: null });
    await resumeKind(current.db, 'webhooks');
  });

  it('has no endpoint when that was switched off or removed', async () => {
    const [off, removed] = [await bed.listen(['job.ended']), await bed.listen(['job.ended'])];
    await bed.endJob();
    await switchOffWebhook(current.db, off);
    await removeWebhook(current.db, removed, bed.userId);
    expect((await bed.claim()).deliveries.map(({ endpoint }) => endpoint)).toEqual([null, null]);
  });
});

describe('the end of an attempt', () => {
  it('ends the delivery, or lets another attempt follow', async () => {
    const endpoint = await bed.listen(['job.ended']);
    await bed.endJob();
    const [first] = (await bed.claim()).deliveries;
    await bed.settle(first!, failed);
    const list = () => listDeliveriesTo(current.db, endpoint, { limit: 10, after: null });
    expect((await list()).rows).toMatchObject([
      { status: 'WAITING', attempt: 2, answered: 500, error, nextAttemptAt: expect.any(Date) },
    ]);
    expect((await bed.claim()).deliveries).toEqual([]);
    await sql`UPDATE task_executions SET run_at = now() WHERE status = 'PENDING'`.execute(current.db);
    const [second] = (await bed.claim()).deliveries;
    expect(second).toMatchObject({ attempt: 2, eventId: first!.eventId });
    await bed.settle(second!, succeeded);
    expect((await list()).rows).toMatchObject([
      {
        status: 'DELIVERED',
        attempt: 2,
        answered: 204,
        error: null,
        endedAt: expect.any(Date),
        nextAttemptAt: null,
      },
    ]);
  });

  it('says since when the endpoint fails, and switches it off after three days, or when it is gone', async () => {
    const failing = await bed.listen(['job.ended']);
    const gone = await bed.listen(['paste.stored']);
    await bed.endJob();
    await bed.settle((await bed.claim()).deliveries[0]!, failed);
    const since = (await findWebhook(current.db, failing, bed.userId))!.failingSince;
    expect(since).toEqual(expect.any(Date));
    await bed.endJob();
    await bed.settle((await bed.claim()).deliveries[0]!, failed);
    expect(await findWebhook(current.db, failing, bed.userId)).toMatchObject({
      failingSince: since,
      switchedOffAt: null,
    });
    await bed.endJob();
    await bed.settle((await bed.claim()).deliveries[0]!, succeeded);
    expect(await findWebhook(current.db, failing, bed.userId)).toMatchObject({ failingSince: null });
    await sql`UPDATE webhook_endpoints SET failing_since = now() - interval '73 hours' WHERE id = ${failing}::uuid`.execute(
      current.db,
    );
    await bed.endJob();
    await bed.settle((await bed.claim()).deliveries[0]!, failed);
    expect(await findWebhook(current.db, failing, bed.userId)).toMatchObject({
      switchedOffFor: 'failing',
      switchedOffAt: expect.any(Date),
    });
    await bed.upload(bed.userId, 'stored');
    await bed.settle(
      (await bed.claim()).deliveries.find(({ type }) => type === 'paste.stored')!,
      {
        outcome: { kind: 'failed', error: 'endpoint failed: answered 410', isFinal: true },
        nextStep: { kind: 'give_up', reason: 'endpoint failed: answered 410' },
        answered: 410,
        endpoint: 'gone',
      },
    );
    expect(await findWebhook(current.db, gone, bed.userId)).toMatchObject({ switchedOffFor: 'gone' });
    expect(await switchOnWebhook(current.db, gone, bed.userId)).toMatchObject({
      switchedOffAt: null,
      failingSince: null,
    });
  });

  it('says nothing of the endpoint when a worker was lost', async () => {
    const endpoint = await bed.listen(['job.ended']);
    await bed.endJob();
    await bed.settle((await bed.claim()).deliveries[0]!, {
      outcome: { kind: 'lost', error: 'worker lost: w' },
      nextStep: { kind: 'retry', attempt: 1, delayMs: 0 },
      answered: null,
      endpoint: null,
    });
    expect(await findWebhook(current.db, endpoint, bed.userId)).toMatchObject({
      failingSince: null,
      switchedOffAt: null,
    });
    expect(webhookRetryPolicy.delaysMs).toHaveLength(7);
  });
});

it('sends an event again, with its id, once at a time, and not to an endpoint that is off', async () => {
  const endpointId = await bed.listen(['job.ended']);
  await bed.endJob();
  const [first] = (await bed.claim()).deliveries;
  const again = () => sendAgain(current.db, { endpointId, deliveryId: first!.deliveryId });
  expect(await again()).toBe('waiting');
  await bed.settle(first!, succeeded);
  const sent = await Promise.all([again(), again()]);
  expect(sent.filter((each) => typeof each === 'object')).toHaveLength(1);
  expect(sent).toContain('waiting');
  const [second] = (await bed.claim()).deliveries;
  expect(second).toMatchObject({
    eventId: first!.eventId,
    about: first!.about,
    happenedAt: first!.happenedAt,
  });
  await bed.settle(second!, succeeded);
  await switchOffWebhook(current.db, endpointId);
  expect(await again()).toBe('off');
  expect(await sendAgain(current.db, { endpointId: bed.userId, deliveryId: first!.deliveryId })).toBe(
    'unknown',
  );
  expect(await removeOldDeliveries(current.db, { retentionSeconds: -60, limit: 10 })).toBe(2);
});
