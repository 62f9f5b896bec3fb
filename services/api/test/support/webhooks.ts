import { randomUUID } from 'node:crypto';
import {
  cancelJob,
  claimDeliveries,
  createJob,
  deliverySubject,
  settleExecutions,
  type ClaimedDelivery,
  type Database,
  type DeliverySettlement,
} from '@pasteflow/postgres';
import type { TestUser } from './users.ts';

export interface WebhookView {
  readonly id: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly status: string;
  readonly switched_off_for: string | null;
  readonly failing_since: string | null;
  readonly rotated_at: string | null;
  readonly created_at: string;
}

export interface SigningWebhook extends WebhookView {
  readonly secret: string;
}

export interface DeliveryView {
  readonly id: string;
  readonly event_id: string;
  readonly type: string;
  readonly status: string;
  readonly retry_of: string | null;
}

export const hookUrl = 'https://hooks.example.com/path-and-secret?key=hidden';

export function addWebhook(
  url: string,
  user: Pick<TestUser, 'headers'>,
  body: unknown = {},
): Promise<Response> {
  const fields = { url: hookUrl, events: ['job.ended'] };
  return fetch(`${url}/v1/webhooks`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...user.headers },
    body: typeof body === 'string' ? body : JSON.stringify({ ...fields, ...(body as object) }),
  });
}

/** @throws for any other answer than 201 */
export async function newWebhook(
  url: string,
  user: Pick<TestUser, 'headers'>,
  body: object = {},
): Promise<SigningWebhook> {
  const answer = await addWebhook(url, user, body);
  if (answer.status !== 201) throw new Error(await answer.text());
  return (await answer.json()) as SigningWebhook;
}

/** A request for what is at /v1/webhooks. */
export function callWebhooks(
  url: string,
  user: Pick<TestUser, 'headers'>,
  method: string,
  path = '',
): Promise<Response> {
  return fetch(`${url}/v1/webhooks${path}`, { method, headers: user.headers });
}

export async function listWebhooks(
  url: string,
  user: Pick<TestUser, 'headers'>,
): Promise<readonly WebhookView[]> {
  const answer = await callWebhooks(url, user, 'GET');
  return ((await answer.json()) as { webhooks: WebhookView[] }).webhooks;
}

/** A job of the user ends, which its endpoints are told. @returns its id */
export async function endJob(db: Database, user: Pick<TestUser, 'id'>): Promise<string> {
  const { id } = await createJob(db, { userId: user.id, jobType: 'import', parameters: {} });
  await cancelJob(db, { jobId: id, actor: 'api/test', by: 'its owner' });
  return id;
}

const actor = 'upload-worker/test';

/** How an attempt ends: the endpoint takes it, or fails for now, or for good. */
const settlements = {
  taken: { outcome: { kind: 'succeeded' }, nextStep: { kind: 'done' }, answered: 204, endpoint: 'works' },
  failed: {
    outcome: { kind: 'failed', error: 'endpoint failed: answered 503' },
    nextStep: { kind: 'retry', attempt: 2, delayMs: 60_000 },
    answered: 503,
    endpoint: 'fails',
  },
  refused: {
    outcome: { kind: 'failed', error: 'endpoint failed: answered 410' },
    nextStep: { kind: 'give_up', reason: 'endpoint failed: answered 410' },
    answered: 410,
    endpoint: 'gone',
  },
} as const satisfies Readonly<Record<string, Omit<DeliverySettlement, 'executionId'>>>;

/** A worker tries everything that is due to the endpoint. What is due to others stays claimed. */
export async function attemptAll(
  db: Database,
  endpointId: string,
  how: keyof typeof settlements,
): Promise<readonly ClaimedDelivery[]> {
  const { deliveries } = await claimDeliveries(db, {
    actor,
    leaseSeconds: 60,
    after: null,
    running: [],
    limit: 1000,
    perUser: 1000,
    perEndpoint: 1000,
  });
  const own = deliveries.filter((each) => each.endpointId === endpointId);
  for (const { executionId } of own)
    await settleExecutions(db, deliverySubject, [{ executionId, ...settlements[how] }], {
      actor,
      dispatched: false,
    });
  return own;
}

/** A delivery to the endpoint that it has taken. */
export async function putDelivery(
  db: Database,
  { id, endpointId, userId, eventId }: { id: string; endpointId: string; userId: string; eventId: string },
): Promise<void> {
  await db
    .insertInto('webhook_deliveries')
    .values({
      id,
      endpoint_id: endpointId,
      user_id: userId,
      event_id: eventId,
      type: 'job.ended',
      about: randomUUID(),
      occurrence: randomUUID(),
    })
    .execute();
  await db
    .insertInto('task_executions')
    .values({ kind: 'webhook', subject_id: id, user_id: userId, endpoint_id: endpointId, attempt: 1 })
    .execute();
  await attemptAll(db, endpointId, 'taken');
}
