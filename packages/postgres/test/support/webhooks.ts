import { beforeEach } from '@jest/globals';
import type { WebhookEventType } from '@pasteflow/domain';
import {
  cancelJob,
  claimDeliveries,
  claimExecutions,
  createJob,
  createPaste,
  createWebhook,
  deliverySubject,
  ensureUser,
  listDeliveriesTo,
  settleExecutions,
  uploadSubject,
  type ClaimedDelivery,
  type Database,
  type DeliveryPlace,
  type DeliverySettlement,
} from '../../src/index.ts';
import { pasteToCreate } from './database.ts';

export const actor = 'upload-worker/test';
export const url = 'https://hooks.example.com/secret';

interface Claiming {
  readonly after?: DeliveryPlace | null;
  readonly running?: readonly DeliveryPlace[];
  readonly limit?: number;
  readonly perUser?: number;
  readonly perEndpoint?: number;
}

export const succeeded = {
  outcome: { kind: 'succeeded' },
  nextStep: { kind: 'done' },
  answered: 204,
  endpoint: 'works',
} as const;
export const error = 'endpoint failed: answered 500';
export const failed = {
  outcome: { kind: 'failed', error },
  nextStep: { kind: 'retry', attempt: 2, delayMs: 60_000 },
  answered: 500,
  endpoint: 'fails',
} as const;

/** What the tests of webhooks do, as the user `alice` unless they say whom. */
export function useWebhooks(current: { readonly db: Database }) {
  const bed = { userId: '', listen, told, claim, settle, upload, endJob };
  beforeEach(async () => {
    bed.userId = await ensureUser(current.db, 'alice');
  });

  async function listen(
    events: readonly WebhookEventType[],
    owner: string | null = bed.userId,
  ): Promise<string> {
    const endpoint = await createWebhook(current.db, { userId: owner, url, events });
    if (endpoint === null) throw new Error('no endpoint');
    return endpoint.id;
  }

  async function told(endpointId: string): Promise<readonly (readonly [string, string])[]> {
    const { rows } = await listDeliveriesTo(current.db, endpointId, { limit: 100, after: null });
    return rows.map(({ type, about }) => [type, about] as const).toReversed();
  }

  async function claim(claiming: Claiming = {}, db = current.db) {
    return await claimDeliveries(db, {
      actor,
      leaseSeconds: 6,
      after: null,
      running: [],
      limit: 100,
      perUser: 100,
      perEndpoint: 100,
      ...claiming,
    });
  }

  async function settle(
    { executionId }: ClaimedDelivery,
    rest: Omit<DeliverySettlement, 'executionId'>,
  ): Promise<void> {
    const how = { actor, dispatched: false };
    await settleExecutions(current.db, deliverySubject, [{ executionId, ...rest }], how);
  }

  /** Creates a paste, and ends its upload. @returns the short code */
  async function upload(owner: string | null, how: 'stored' | 'failed'): Promise<string> {
    const paste = await createPaste(current.db, pasteToCreate({ userId: owner }));
    if (paste === null) throw new Error('no paste');
    const { shortCode } = paste;
    const claims = await claimExecutions(current.db, uploadSubject, {
      keys: [shortCode],
      actor,
      leaseSeconds: 6,
    });
    const claimed = claims.get(shortCode);
    if (claimed?.kind !== 'claimed') throw new Error('not claimed');
    const { executionId } = claimed.execution;
    const reason = 'storage unavailable: S3 answered 500';
    await settleExecutions(
      current.db,
      uploadSubject,
      [
        how === 'stored'
          ? { executionId, outcome: { kind: 'succeeded', s3Url: 's3://b/k' }, nextStep: { kind: 'done' } }
          : {
              executionId,
              outcome: { kind: 'failed', error: reason },
              nextStep: { kind: 'give_up', reason },
            },
      ],
      { actor, dispatched: true },
    );
    return shortCode;
  }

  /** A job that is cancelled: the event that takes the fewest statements. */
  async function endJob(owner = bed.userId): Promise<string> {
    const { id } = await createJob(current.db, { userId: owner, jobType: 'import', parameters: {} });
    await cancelJob(current.db, { jobId: id, actor: 'api/test', by: 'its owner' });
    return id;
  }

  return bed;
}
