import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import {
  createWebhook,
  findKnownWebhook,
  findStuck,
  pauseKind,
  readStateFigures,
  resumeKind,
} from '../../src/index.ts';
import { makeDeliveries, makeUsers, type ExecutionShape } from '../../src/testing/index.ts';
import { useDatabase } from '../support/database.ts';
import { explain } from '../support/explain.ts';

const current = useDatabase();

async function endpointOf(userId: string | null): Promise<string> {
  const endpoint = await createWebhook(current.db, {
    userId,
    url: 'https://hooks.example.com',
    events: ['paste.stored'],
  });
  if (endpoint === null) throw new Error('no endpoint');
  return endpoint.id;
}

const make = (endpointId: string, execution: ExecutionShape, count = 3) =>
  makeDeliveries(current.db, endpointId, count, { status: 'WAITING', createdSecondsAgo: 900, execution });
const due = (dueSecondsAgo: number) => ({ status: 'PENDING', dueSecondsAgo }) as const;

async function oldestSeconds(): Promise<number> {
  const { kinds } = await readStateFigures(current.db);
  return kinds.find(({ kind }) => kind === 'webhook')?.oldestDueSeconds ?? 0;
}

const stuck = async () =>
  (await findStuck(current.db, { limit: 10, deletionStuckAfterSeconds: 7200 })).map(
    ({ what, kind, subject }) => ({ what, kind, subject }),
  );

describe('a delivery that is due and that nobody sends', () => {
  it('is stuck, unless a worker is sending something else of its user', async () => {
    const [slow, other, later] = await makeUsers(current.db, 3);
    await make(await endpointOf(slow!.id), { status: 'RUNNING' });
    await make(await endpointOf(slow!.id), due(800));
    await make(await endpointOf(later!.id), due(-60));
    expect([await oldestSeconds(), await stuck()]).toEqual([0, []]);
    const endpointId = await endpointOf(other!.id);
    await make(endpointId, due(300));
    const [oldest] = await make(endpointId, due(400), 1);
    const found = await oldestSeconds();
    expect(found).toBeGreaterThanOrEqual(400);
    expect(found).toBeLessThan(700);
    const unclaimed = [{ what: 'unclaimed', kind: 'webhook', subject: oldest!.id }];
    expect(await stuck()).toEqual(unclaimed);
    await pauseKind(current.db, 'webhooks', { actor: 'ops/test', reason: 'a test' });
    expect(await stuck()).toEqual([]);
    await resumeKind(current.db, 'webhooks');
  });

  it('is found behind a hundred endpoints whose next delivery is not due', async () => {
    for (const { id } of await makeUsers(current.db, 100)) await make(await endpointOf(id), due(-60), 1);
    await make(await endpointOf(null), due(100), 1);
    expect(await oldestSeconds()).toBeGreaterThanOrEqual(100);
  });
});

it('is counted at little cost for an endpoint that has thousands of others', async () => {
  const endpointId = await endpointOf(null);
  await makeDeliveries(current.db, endpointId, 3000, { status: 'DELIVERED' });
  await makeDeliveries(current.db, await endpointOf(null), 3000, { status: 'WAITING', execution: due(-60) });
  await make(endpointId, due(-60), 2);
  await sql`ANALYZE webhook_deliveries, task_executions`.execute(current.db);
  expect(await findKnownWebhook(current.db, endpointId)).toMatchObject({ waiting: 2 });
  expect((await explain(current.url, (db) => findKnownWebhook(db, endpointId))).buffers).toBeLessThan(30);
});
