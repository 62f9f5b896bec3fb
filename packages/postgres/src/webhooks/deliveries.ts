import {
  isTerminal,
  statesOf,
  webhookDelivery,
  webhookEvents,
  type WebhookDeliveryState,
  type WebhookEventType,
} from '@pasteflow/domain';
import { sql } from 'kysely';
import type { Database } from '../database/database.ts';
import { toPage, type Page, type PageRequest, type Place } from '../database/page.ts';

export interface WebhookDelivery {
  readonly id: string;
  readonly eventId: string;
  readonly type: WebhookEventType;
  /** The short code, the job id or the id of the request. */
  readonly about: string;
  readonly happenedAt: Date;
  readonly status: WebhookDeliveryState;
  readonly createdAt: Date;
  readonly endedAt: Date | null;
  /** The status of the last answer; null: there was none. */
  readonly answered: number | null;
  /** The attempts so far, the one that runs or waits included. */
  readonly attempt: number;
  /** When the next attempt is due; null: none waits. */
  readonly nextAttemptAt: Date | null;
  /** Why the last attempt failed, as a stored reason; null: none has failed. */
  readonly error: string | null;
  /** The delivery whose event is sent again; null: this is the first one. */
  readonly retryOf: string | null;
}

/**
 * The deliveries to an endpoint, newest first, without those of events that only a later release knows: a rollback leaves
 * some. The caller knows that the endpoint is the user's.
 */
export async function listDeliveriesTo(
  db: Database,
  endpointId: string,
  { limit, after }: PageRequest,
): Promise<Page<WebhookDelivery & { readonly place: Place }>> {
  const older = after && sql`AND (d.created_at, d.id) < (${after.createdAt}::timestamptz, ${after.id}::uuid)`;
  const { rows } = await sql<WebhookDelivery & { place: Place }>`
    SELECT d.id, d.event_id AS "eventId", d.type, d.about, d.happened_at AS "happenedAt", d.status, d.created_at AS "createdAt",
      d.ended_at AS "endedAt", d.answered, coalesce(last.attempt, 1) AS attempt, d.retry_of AS "retryOf",
      CASE WHEN last.status = 'PENDING' THEN last.run_at END AS "nextAttemptAt", coalesce(d.failure_reason, failed.error) AS error,
      json_build_object('createdAt', d.created_at::text, 'id', d.id) AS place
    FROM webhook_deliveries d LEFT JOIN LATERAL (
      SELECT * FROM task_executions e WHERE e.subject_id = d.id AND e.kind = 'webhook' ORDER BY e.created_at DESC, e.id DESC LIMIT 1
    ) AS last ON true LEFT JOIN LATERAL (
      SELECT error FROM task_executions e WHERE e.subject_id = d.id AND e.kind = 'webhook' AND e.error IS NOT NULL
      ORDER BY e.created_at DESC, e.id DESC LIMIT 1
    ) AS failed ON d.status = 'WAITING'
    WHERE d.endpoint_id = ${endpointId}::uuid AND d.type = ANY (${Object.keys(webhookEvents)}::text[]) ${older ?? sql``} ORDER BY d.created_at DESC, d.id DESC LIMIT ${limit + 1}`.execute(
    db,
  );
  return toPage(rows, limit);
}

/** A delivery to anybody's endpoint, for operators. */
export interface KnownDelivery extends Omit<WebhookDelivery, 'attempt' | 'nextAttemptAt' | 'error'> {
  readonly endpointId: string;
  readonly failureReason: string | null;
}

/** @returns null: there is no such delivery */
export async function findDelivery(db: Database, id: string): Promise<KnownDelivery | null> {
  const { rows } = await sql<KnownDelivery>`
    SELECT id, endpoint_id AS "endpointId", event_id AS "eventId", type, about, happened_at AS "happenedAt", status,
      created_at AS "createdAt", ended_at AS "endedAt", answered, failure_reason AS "failureReason", retry_of AS "retryOf"
    FROM webhook_deliveries WHERE id = ${id}::uuid`.execute(db);
  return rows[0] ?? null;
}

const ended = statesOf(webhookDelivery).filter((state) => isTerminal(webhookDelivery, state));

/** The new delivery; or why there is none: no such delivery, the event waits to be sent already, the endpoint is off. */
export type SentAgain = { readonly id: string } | 'unknown' | 'waiting' | 'off';

/** Sends the event of a delivery that has ended to its endpoint once more, as a new delivery with the id of the event. */
export async function sendAgain(
  db: Database,
  { endpointId, deliveryId }: { readonly endpointId: string; readonly deliveryId: string },
): Promise<SentAgain> {
  const { rows } = await sql<{ status: WebhookDeliveryState; isOn: boolean; id: string | null }>`
    WITH sent AS MATERIALIZED (
      SELECT d.*, EXISTS (
        SELECT FROM webhook_endpoints e WHERE e.id = d.endpoint_id AND e.switched_off_at IS NULL AND e.removed_at IS NULL) AS is_on
      FROM webhook_deliveries d WHERE d.id = ${deliveryId}::uuid AND d.endpoint_id = ${endpointId}::uuid
    ), again AS (
      INSERT INTO webhook_deliveries (endpoint_id, user_id, event_id, type, about, occurrence, happened_at, retry_of)
      SELECT endpoint_id, user_id, event_id, type, about, occurrence, happened_at, id FROM sent WHERE is_on AND status = ANY (${ended})
      ON CONFLICT DO NOTHING
      RETURNING id, user_id, endpoint_id
    ), execution AS (
      INSERT INTO task_executions (kind, subject_id, user_id, endpoint_id, attempt)
      SELECT 'webhook', id, user_id, endpoint_id, 1 FROM again
    )
    SELECT sent.status, sent.is_on AS "isOn", again.id FROM sent LEFT JOIN again ON true`.execute(db);
  const [row] = rows;
  if (row === undefined) return 'unknown';
  if (row.id !== null) return { id: row.id };
  return row.isOn ? 'waiting' : 'off';
}
