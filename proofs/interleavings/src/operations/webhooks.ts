import { type AttemptCount, decideNextStep, webhookRetryPolicy } from '@pasteflow/domain';
import {
  cancelJob,
  claimDeliveries,
  type DeliverySettlement,
  deliverySubject,
  eraseUser,
  findStranded,
  findZombies,
  removeDeliveriesOfRemoved,
  removeOldDeliveries,
  removeRemovedWebhooks,
  removeWebhook,
  renewLeases,
  rescueStranded,
  sendAgain,
  settleExecutions,
  type Stranded,
  switchOffWebhook,
  switchOnWebhook,
  type Zombie,
} from '@pasteflow/postgres';
import { operation, statement } from '../harness/operation.ts';

const endpoint = { touches: ['endpoint'] } as const;
const settled = { touches: ['execution', 'delivery', 'endpoint'] } as const;
const reaped = { touches: ['execution', 'delivery'], skips: ['execution'] } as const;
const removed = { touches: ['execution', 'delivery'], skips: ['delivery'] } as const;

const LEASE_SECONDS = 6;
const BATCH = 10;
const ERROR = 'endpoint failed: answered 500';

export const claimDelivery = statement(
  'claim a delivery',
  { touches: ['execution'], skips: ['execution'] },
  async (db, _world, actor) => {
    const { deliveries } = await claimDeliveries(db, {
      actor,
      leaseSeconds: LEASE_SECONDS,
      after: null,
      running: [],
      limit: BATCH,
      perUser: BATCH,
      perEndpoint: BATCH,
    });
    return { changed: deliveries.length > 0 };
  },
);

export const renewDelivery = statement('renew', { touches: ['execution'] }, async (db, { executionId }) => {
  await renewLeases(db, [executionId], LEASE_SECONDS);
  return undefined;
});

const settle = (name: string, ending: Omit<DeliverySettlement, 'executionId'>) =>
  statement(name, settled, async (db, { executionId }, actor) => {
    const ended = await settleExecutions(db, deliverySubject, [{ executionId, ...ending }], {
      actor,
      dispatched: false,
    });
    return { changed: ended.has(executionId) };
  });

export const settleDelivered = settle('settle delivered', {
  outcome: { kind: 'succeeded' },
  nextStep: { kind: 'done' },
  answered: 204,
  endpoint: 'works',
});

export const settleRefused = settle('settle refused', {
  outcome: { kind: 'failed', error: ERROR },
  nextStep: { kind: 'retry', attempt: 2, delayMs: 5000 },
  answered: 500,
  endpoint: 'fails',
});

/** The endpoint answers 410, which switches it off. */
export const settleGone = settle('settle gone', {
  outcome: { kind: 'failed', error: 'endpoint failed: answered 410', isFinal: true },
  nextStep: { kind: 'give_up', reason: 'endpoint failed: answered 410' },
  answered: 410,
  endpoint: 'gone',
});

/** As the janitor: a loss spends no attempt. */
function lose(work: AttemptCount & { readonly executionId: string }): DeliverySettlement {
  const outcome = { kind: 'lost', error: 'worker lost' } as const;
  const nextStep = decideNextStep(outcome, work, webhookRetryPolicy, 0.5);
  return { executionId: work.executionId, outcome, nextStep, answered: null, endpoint: null };
}

export const reapDelivery = operation('reap', reaped, (): { found: readonly Zombie[] } => ({ found: [] }), [
  {
    read: async (db, _world, state) => {
      state.found = (await findZombies(db, deliverySubject, BATCH)).items;
      return state.found.length > 0;
    },
  },
  {
    statement: async (db, _world, actor, { found }) => {
      const options = { actor, onlyPastLease: true, dispatched: false };
      return { changed: (await settleExecutions(db, deliverySubject, found.map(lose), options)).size > 0 };
    },
  },
]);

/** The sweep rescue-stranded. */
export const rescueDelivery = operation(
  'rescue',
  { touches: ['delivery'], skips: ['delivery'] },
  (): { found: readonly Stranded[] } => ({ found: [] }),
  [
    {
      read: async (db, _world, state) => {
        state.found = await findStranded(db, deliverySubject, 'oldest', BATCH);
        return state.found.length > 0;
      },
    },
    {
      statement: async (db, _world, actor, { found }) => {
        const rescues = found.map((stranded) => ({
          stranded,
          ending: lose({ ...stranded, executionId: stranded.subjectId }),
        }));
        await rescueStranded(db, deliverySubject, rescues, actor);
        return undefined;
      },
    },
  ],
);

const silent = async (done: Promise<unknown>): Promise<undefined> => void (await done);

export const removeEndpoint = statement('remove the endpoint', endpoint, (db, { endpointId, userId }) =>
  silent(removeWebhook(db, endpointId, userId)),
);

export const switchOff = statement('switch off', endpoint, (db, { endpointId }) =>
  silent(switchOffWebhook(db, endpointId)),
);

export const switchOn = statement('switch on', endpoint, (db, { endpointId, userId }) =>
  silent(switchOnWebhook(db, endpointId, userId)),
);

export const sendOnceMore = statement('send again', { touches: [] }, (db, { endpointId, deliveryId }) =>
  silent(sendAgain(db, { endpointId, deliveryId })),
);

/** An event: a job of the user ends. */
export const endJob = statement('end a job', { touches: ['job'] }, async (db, { jobId }, actor) => ({
  changed: (await cancelJob(db, { jobId, actor, by: 'its owner' })) !== null,
}));

export const removeOfRemoved = statement('remove deliveries', removed, (db) =>
  silent(removeDeliveriesOfRemoved(db, { limit: BATCH })),
);

export const removeRows = statement('remove endpoints', { touches: [] }, (db) =>
  silent(removeRemovedWebhooks(db, { limit: BATCH })),
);

export const removeEnded = statement('remove old deliveries', removed, (db) =>
  silent(removeOldDeliveries(db, { retentionSeconds: 3600, limit: BATCH })),
);

/** The user ends the account, and the sweep removes what was to be told. */
export const eraseListener = operation(
  'erase the user',
  { touches: ['execution', 'delivery', 'endpoint'], skips: ['delivery'] },
  () => null,
  [
    { statement: (db, { userId }) => silent(eraseUser(db, userId)) },
    { statement: (db) => silent(removeDeliveriesOfRemoved(db, { limit: BATCH })) },
  ],
);
