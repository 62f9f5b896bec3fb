import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { defaultTimeBounds, eraseUser, removeWebhook, WEBHOOK_DELAY_SECONDS } from '@pasteflow/postgres';
import {
  lockRow,
  makeDeliveries,
  makeUsers,
  stepClockBack,
  type DeliveryShape,
  type ExecutionShape,
} from '@pasteflow/postgres/testing';
import { Metrics, tracingOff } from '@pasteflow/runtime';
import { sql } from 'kysely';
import { composeSweeps } from '../src/compose.ts';
import { loadJanitorConfig } from '../src/config.ts';
import { createErasures } from '../src/sweeps/erasures.ts';
import { createReapExecutions } from '../src/sweeps/reap-executions.ts';
import { createRelay } from '../src/sweeps/relay.ts';
import { createRescueStranded } from '../src/sweeps/rescue-stranded.ts';
import { createTombstones } from '../src/sweeps/old-rows.ts';
import { createWorld, makeEndpoint, running, type World } from './world.ts';

let world: World;
let endpointId: string;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.stop());
beforeEach(async () => {
  await world.reset();
  endpointId = await makeEndpoint(world.db, world.userId);
});

const DAY = 86_400;

const make = (count: number, shape: DeliveryShape, to = endpointId) =>
  makeDeliveries(world.db, to, count, shape);
const waiting = (count: number, execution: ExecutionShape) => make(count, { status: 'WAITING', execution });
const zombies = (count: number, losses = 0) =>
  waiting(count, { status: 'RUNNING', losses, workerId: 'upload-worker/dead', leaseSeconds: -1 });

const by = () => ({ actor: 'janitor/test', random: () => 0.5, logger: world.log });
const reaper = () => createReapExecutions({ ...world, ...by() });
const rescuer = () =>
  createRescueStranded({ ...world, ...by(), db: world.janitorDb, quotas: null, bounds: defaultTimeBounds });
const tombstones = () =>
  createTombstones({
    db: world.janitorDb,
    tombstoneRetentionSeconds: 30 * DAY,
    jobRetentionSeconds: 20 * DAY,
    transitionRetentionSeconds: 90 * DAY,
  });

const erasures = () => createErasures({ ...world, ...by(), db: world.janitorDb });
const removedLongAgo = () =>
  sql`UPDATE webhook_endpoints SET removed_at = now() - interval '16 minutes' WHERE removed_at IS NOT NULL`.execute(
    world.db,
  );

const executions = () =>
  world.db
    .selectFrom('task_executions')
    .select(['attempt', 'losses', 'status', 'error', 'user_id', 'endpoint_id', 'dispatched_at'])
    .orderBy('created_at')
    .orderBy('losses')
    .execute();
const deliveries = () =>
  world.db
    .selectFrom('webhook_deliveries')
    .select(['id', 'status', 'failure_reason'])
    .orderBy('id')
    .execute();

describe('of deliveries of webhooks, which have no queue,', () => {
  it('the reaper ends those of crashed workers, and leaves the next attempt to the claims of the workers', async () => {
    await zombies(1);
    const entry = { name: 'janitor', instance: 'janitor/test', logger: world.log, tracing: tracingOff };
    const config = loadJanitorConfig(world.env);
    const { sweeps, close } = composeSweeps({ ...entry, config }, new Metrics('janitor', { process: false }));
    const counts = await sweeps['reap-executions'].runOnce(running());
    await close();
    expect(counts).toEqual({
      lost: 1,
      rescued: 1,
      given_up: 0,
      dispatched: 0,
      outrun: 0,
    });
    const own = { attempt: 1, user_id: world.userId, endpoint_id: endpointId };
    expect(await executions()).toMatchObject([
      { ...own, losses: 0, status: 'FAILED', error: 'worker lost: upload-worker/dead' },
      { ...own, losses: 1, status: 'PENDING', dispatched_at: null },
    ]);
    const relay = createRelay({ ...world, relayGraceSeconds: 0, relayRedispatchAfterSeconds: 0 });
    expect(await relay.runOnce(running())).toEqual({ sent: 0, resent: 0, postponed: 0 });
    expect(world.proxy.requests.filter(({ target }) => target?.includes('SendMessage'))).toEqual([]);
  });

  it('the reaper fails those that were lost six times, says so in the log, and blames no endpoint', async () => {
    const [made] = await zombies(1, 5);
    expect(await reaper().runOnce(running())).toMatchObject({ lost: 1, given_up: 1 });
    expect(await deliveries()).toEqual([
      {
        id: made!.id,
        status: 'FAILED',
        failure_reason: 'lost too often: lost 6 times; the last: worker lost',
      },
    ]);
    expect(world.log.lines).toContainEqual(
      expect.objectContaining({
        level: 'error',
        message: 'webhooks lost more than 3 times',
        fields: { count: 1, delivery_ids: [made!.id] },
      }),
    );
    const { rows } = await sql`SELECT FROM webhook_endpoints WHERE failing_since IS NOT NULL`.execute(
      world.db,
    );
    expect(rows).toEqual([]);
    expect(JSON.stringify(world.log.lines)).not.toContain('hooks.example.com');
  });

  it('the reaper ends the others while one is locked', async () => {
    const [first] = await zombies(11);
    const release = await lockRow(world.db, 'task_executions', first!.executionId);
    expect(await reaper().runOnce(running())).toMatchObject({ lost: 10, rescued: 10 });
    await release();
    expect(await reaper().runOnce(running())).toMatchObject({ lost: 1 });
  });

  it('the reaper removes an execution whose delivery is gone', async () => {
    await zombies(2);
    await sql`ALTER TABLE webhook_deliveries DISABLE TRIGGER remove_executions_of_deliveries`.execute(
      world.db,
    );
    try {
      await sql`DELETE FROM webhook_deliveries WHERE id = (SELECT min(id::text)::uuid FROM webhook_deliveries)`.execute(
        world.db,
      );
    } finally {
      await sql`ALTER TABLE webhook_deliveries ENABLE ALWAYS TRIGGER remove_executions_of_deliveries`.execute(
        world.db,
      );
    }
    expect(await reaper().runOnce(running())).toMatchObject({ lost: 1, rescued: 1 });
    expect(world.log.lines).toContainEqual(
      expect.objectContaining({ message: 'executions without a delivery removed' }),
    );
  });

  it('rescue-stranded gives one without an open execution its next, to the same endpoint', async () => {
    await waiting(2, { status: 'RUNNING', attempt: 3 });
    await sql`UPDATE task_executions SET status = 'FAILED', error = 'ended by hand', finished_at = now(), lease_expires_at = NULL`.execute(
      world.db,
    );
    expect(await rescuer().runOnce(running())).toMatchObject({ rescued: 2, given_up: 0 });
    const own = { attempt: 3, user_id: world.userId, endpoint_id: endpointId };
    const [, , ...rescued] = await executions();
    expect(rescued).toMatchObject([
      { ...own, losses: 1, status: 'PENDING' },
      { ...own, losses: 1, status: 'PENDING' },
    ]);
  });

  it('rescue-stranded resets times that are further ahead than an endpoint can ask for', async () => {
    await waiting(1, { status: 'PENDING', dueSecondsAgo: 60 - WEBHOOK_DELAY_SECONDS });
    expect(await rescuer().runOnce(running())).toMatchObject({ reset: 0 });
    await waiting(1, { status: 'PENDING', dueSecondsAgo: 0 });
    await waiting(1, { status: 'RUNNING' });
    await stepClockBack(world.db, 600);
    expect(await rescuer().runOnce(running())).toMatchObject({ reset: 2 }); // the one that is due within its bound waits
    const { rows } = await sql`
      SELECT FROM task_executions WHERE lease_expires_at > now() + interval '7 seconds'`.execute(world.db);
    expect(rows).toEqual([]);
  });

  it('tombstones removes those that ended as long ago as jobs may be kept, more than a batch in one run', async () => {
    await make(1100, { status: 'DELIVERED', createdSecondsAgo: 21 * DAY });
    await make(1, { status: 'FAILED', createdSecondsAgo: 21 * DAY });
    await make(2, { status: 'FAILED', createdSecondsAgo: 21 * DAY, endedSecondsAgo: 19 * DAY });
    await make(1, { status: 'WAITING', createdSecondsAgo: 21 * DAY });
    expect(await tombstones().runOnce(running())).toMatchObject({ deliveries: 1101 });
    expect(await deliveries()).toHaveLength(3);
    expect(await executions()).toHaveLength(3);
  });

  it('erasures removes those of removed endpoints, and an endpoint when no statement can still tell it anything', async () => {
    await waiting(1, { status: 'PENDING' });
    await make(1100, { status: 'DELIVERED' });
    const other = await makeEndpoint(world.db, world.userId);
    await make(1, { status: 'DELIVERED' }, other);
    await removeWebhook(world.db, endpointId, world.userId);
    expect(await erasures().runOnce(running())).toMatchObject({ deliveries: 1101, endpoints: 0 });
    expect(await executions()).toHaveLength(1);
    await removedLongAgo();
    expect(await erasures().runOnce(running())).toMatchObject({ deliveries: 0, endpoints: 1 });
    const { rows } = await sql<{ id: string }>`SELECT id FROM webhook_endpoints`.execute(world.db);
    expect(rows).toEqual([{ id: other }]);
  });

  it('an erasure leaves none, also of what happens while it is at work', async () => {
    const [user] = await makeUsers(world.db, 1);
    endpointId = await makeEndpoint(world.db, user!.id);
    await waiting(1, { status: 'PENDING' });
    await eraseUser(world.db, user!.id);
    expect(await erasures().runOnce(running())).toMatchObject({ deliveries: 1, endpoints: 0, done: 0 });
    await waiting(1, { status: 'PENDING' }); // of a statement that began before
    await removedLongAgo();
    expect(await erasures().runOnce(running())).toMatchObject({ deliveries: 1, endpoints: 1, done: 1 });
    expect([...(await deliveries()), ...(await executions())]).toEqual([]);
  });
});
