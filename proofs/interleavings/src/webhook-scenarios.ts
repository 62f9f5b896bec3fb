import { type WebhookEventType, webhookEventsFor } from '@pasteflow/domain';
import {
  cancelJob,
  claimDeliveries,
  claimExpired,
  createWebhook,
  deliverySubject,
  settleExecutions,
  type DeliverySettlement,
} from '@pasteflow/postgres';
import { makeJobs, makeUsers, type PasteShape } from '@pasteflow/postgres/testing';
import { sql } from 'kysely';
import type { Scenario } from './harness/explore.ts';
import type { Operation, World } from './harness/operation.ts';
import type { Lane } from './harness/run-schedule.ts';
import { cleanup, releaseClaimed, reveal, settleClaimed, watchdog } from './operations/deletions.ts';
import * as webhooks from './operations/webhooks.ts';
import { deleteByUser, giveUp, reap, settleFailed, settleStored } from './operations/uploads.ts';
import { deletionOf, nothing, paste } from './paste-scenario.ts';

const { claimDelivery, renewDelivery, settleDelivered, settleRefused, settleGone, reapDelivery } = webhooks;
const { removeEndpoint, switchOff, switchOn, sendOnceMore, endJob } = webhooks;
const { removeOfRemoved, removeRows, removeEnded, eraseListener, rescueDelivery } = webhooks;

async function listen(db: Lane['db'], userId: string, events: readonly WebhookEventType[]) {
  const endpoint = await createWebhook(db, { userId, url: 'https://hooks.example.com/', events });
  if (endpoint === null) throw new Error('There is no endpoint.');
  return endpoint.id;
}

/** The end of a job is to be told, and another job waits. `until` brings the delivery into its state. */
function delivery(
  name: string,
  until: (db: Lane['db'], world: World) => Promise<World>,
  operations: readonly Operation[],
): Scenario {
  return {
    name,
    operations,
    prepare: async ({ db }) => {
      const [user] = await makeUsers(db, 1);
      const userId = user!.id;
      const endpointId = await listen(db, userId, ['job.ended']);
      const [told, waiting] = await makeJobs(db, 2, { status: 'queued', userId });
      await cancelJob(db, { jobId: told!.id, actor: 'api/before', by: 'its owner' });
      const { rows } = await sql<{ deliveryId: string; executionId: string }>`
        SELECT subject_id AS "deliveryId", id AS "executionId" FROM task_executions WHERE kind = 'webhook'`.execute(
        db,
      );
      const { deliveryId, executionId } = rows[0]!;
      const lockPoints = {
        endpoint: `SELECT FROM webhook_endpoints WHERE id = '${endpointId}'`,
        delivery: `SELECT FROM webhook_deliveries WHERE id = '${deliveryId}'`,
        execution: `SELECT FROM task_executions WHERE id = '${executionId}'`,
        job: `SELECT FROM jobs WHERE id = '${waiting!.id}'`,
      };
      const ids = { userId, endpointId, deliveryId, executionId, jobId: waiting!.id };
      return await until(db, { ...nothing, ...ids, takenAtEnd: [], objects: new Set(), lockPoints });
    },
  };
}

const ONE_HOUR = 3600;

const waiting = (_db: Lane['db'], world: World) => Promise.resolve(world);

const running = (leaseSeconds: number) => async (db: Lane['db'], world: World) => {
  const all = { after: null, running: [], limit: 10, perUser: 10, perEndpoint: 10 };
  await claimDeliveries(db, { actor: 'upload-worker/before', leaseSeconds: 3600, ...all });
  await sql`UPDATE task_executions SET lease_expires_at = now() + make_interval(secs => ${leaseSeconds})
    WHERE id = ${world.executionId}`.execute(db);
  return world;
};

const ended = (ending: Omit<DeliverySettlement, 'executionId'>) => async (db: Lane['db'], world: World) => {
  const { executionId } = await running(ONE_HOUR)(db, world);
  await settleExecutions(db, deliverySubject, [{ executionId, ...ending }], {
    actor: 'upload-worker/before',
    dispatched: false,
  });
  return world;
};

/** Plain SQL has ended the open execution. */
const stranded = async (db: Lane['db'], before: World) => {
  const world = await running(ONE_HOUR)(db, before);
  await sql`UPDATE task_executions SET status = 'FAILED', error = 'ended by hand', finished_at = now(), lease_expires_at = NULL
    WHERE id = ${world.executionId}`.execute(db);
  return { ...world, isStranded: true };
};

/** A paste of this shape, whose owner is told what becomes of it. `before` has been told already. */
function told(
  name: string,
  shape: PasteShape,
  operations: readonly Operation[],
  before: (db: Lane['db'], world: World) => Promise<unknown> = () => Promise.resolve(),
): Scenario {
  return {
    name,
    operations,
    prepare: async (lane) => {
      const [user] = await makeUsers(lane.db, 1);
      const userId = user!.id;
      const world = await paste(name, { ...shape, userId }, []).prepare(lane);
      const endpointId = await listen(lane.db, userId, webhookEventsFor('owner'));
      const endpoint = `SELECT FROM webhook_endpoints WHERE id = '${endpointId}'`;
      const lockPoints = { ...world.lockPoints, endpoint };
      await before(lane.db, world);
      return { ...world, lockPoints, userId, endpointId, deletion: await deletionOf(lane.db, world.pasteId) };
    },
  };
}

/** A cleanup has claimed the paste, and was stuck for more than two hours. */
async function stuckCleanup(db: Lane['db'], { pasteId }: World): Promise<void> {
  await claimExpired(db, { actor: 'janitor/before', limit: 1 });
  await sql`UPDATE pastes SET deletion_initiated_at = now() - interval '7300 seconds' WHERE id = ${pasteId}`.execute(
    db,
  );
}

const expired = { status: 'PROCESSED', expiresInSeconds: -1, createdSecondsAgo: 2 * ONE_HOUR } as const;

export const webhookScenarios: readonly Scenario[] = [
  delivery('a waiting delivery', waiting, [
    claimDelivery,
    settleDelivered,
    reapDelivery,
    removeEndpoint,
    switchOff,
    sendOnceMore,
    endJob,
    removeOfRemoved,
    eraseListener,
  ]),
  delivery('a running delivery', running(ONE_HOUR), [
    claimDelivery,
    renewDelivery,
    settleDelivered,
    settleRefused,
    settleGone,
    reapDelivery,
    removeEndpoint,
    switchOff,
    switchOn,
    sendOnceMore,
    endJob,
    eraseListener,
  ]),
  delivery('an abandoned delivery', running(-60), [
    claimDelivery,
    renewDelivery,
    settleDelivered,
    settleGone,
    reapDelivery,
    removeEndpoint,
    eraseListener,
  ]),
  delivery(
    'a running delivery to a removed endpoint',
    async (db, world) => {
      await running(-60)(db, world);
      await sql`UPDATE webhook_endpoints SET removed_at = now() - interval '1 hour', url = NULL`.execute(db);
      return world;
    },
    [settleDelivered, settleRefused, reapDelivery, endJob, sendOnceMore, removeOfRemoved, removeRows],
  ),
  delivery(
    'a delivery that has succeeded',
    ended({
      outcome: { kind: 'succeeded' },
      nextStep: { kind: 'done' },
      answered: 204,
      endpoint: 'works',
    }),
    [
      claimDelivery,
      settleDelivered,
      sendOnceMore,
      endJob,
      removeEndpoint,
      switchOff,
      removeOfRemoved,
      removeEnded,
      eraseListener,
    ],
  ),
  delivery('a stranded delivery', stranded, [
    claimDelivery,
    settleDelivered,
    reapDelivery,
    rescueDelivery,
    sendOnceMore,
    removeEndpoint,
    eraseListener,
  ]),
  told(
    'a running paste whose owner is told',
    {
      status: 'IN_PROGRESS',
      expiresInSeconds: ONE_HOUR,
      execution: { status: 'RUNNING', leaseSeconds: ONE_HOUR },
    },
    [settleStored, settleFailed, giveUp, reap, removeEndpoint, switchOff, eraseListener],
  ),
  told('an expired paste whose owner is told', expired, [
    cleanup,
    deleteByUser,
    watchdog,
    removeEndpoint,
    switchOff,
    eraseListener,
  ]),
  told(
    'a paste claimed for deletion whose owner was told',
    expired,
    [cleanup, settleClaimed, releaseClaimed, watchdog, removeEndpoint, switchOn],
    stuckCleanup,
  ),
  told(
    'a paste to read once whose owner is told',
    { status: 'PROCESSED', burn: true, expiresInSeconds: ONE_HOUR },
    [reveal, deleteByUser, cleanup, removeEndpoint, eraseListener],
  ),
];
