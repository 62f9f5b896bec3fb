import type { WebhookEventType } from '@pasteflow/domain';
import { sql } from 'kysely';
import { byActor, type Actor } from '../database/actor.ts';
import type { Database } from '../database/database.ts';
import { prepared } from '../database/prepared.ts';
import { claimDue, type ClaimedExecution } from '../executions/claim.ts';
import { WEBHOOKS } from '../executions/work-kinds.ts';
import type { DeliveryName } from './delivery-subject.ts';

export interface ClaimedDelivery extends ClaimedExecution, DeliveryName {
  /** Whose turn was taken: the user of the endpoint, or an endpoint of the operators itself. */
  readonly turnOf: string;
  readonly eventId: string;
  readonly type: WebhookEventType;
  /** The short code, the job id or the id of the request. */
  readonly about: string;
  readonly happenedAt: Date;
  /** null: the endpoint is removed or switched off, and nothing is to be sent. */
  readonly endpoint: {
    readonly url: string;
    readonly generation: number;
    /** null: never. */
    readonly rotatedAt: Date | null;
  } | null;
}

/** A place in the order of users and their endpoints, in which they take turns. */
export interface DeliveryPlace {
  readonly turnOf: string;
  readonly endpointId: string;
}

const START: DeliveryPlace = {
  turnOf: '00000000-0000-0000-0000-000000000000',
  endpointId: '00000000-0000-0000-0000-000000000000',
};

interface ClaimRow extends Omit<ClaimedDelivery, 'executionId' | 'endpoint'> {
  readonly executionId: string | null;
  readonly placeOf: string | null;
  readonly placeEndpoint: string | null;
  readonly url: string | null;
  readonly generation: number | null;
  readonly rotatedAt: Date | null;
}

/**
 * Claims up to `limit` due deliveries (PENDING → RUNNING) in one statement, behind a place in the order of users and
 * endpoints, so that users take turns however many deliveries one has. Deliveries that another worker is claiming are
 * skipped. Claims nothing while the kind `webhooks` is paused.
 * @returns the deliveries, and the place where the next claim begins; null: at the start, because this one has reached
 * the end
 */
export async function claimDeliveries(
  db: Database,
  {
    actor,
    leaseSeconds,
    after,
    running,
    limit,
    perUser,
    perEndpoint,
  }: {
    readonly actor: Actor;
    readonly leaseSeconds: number;
    /** null: the start. */
    readonly after: DeliveryPlace | null;
    /** What the worker is sending already. */
    readonly running: readonly DeliveryPlace[];
    readonly limit: number;
    /** How many deliveries of one user, and to one endpoint, the worker sends at the same time. */
    readonly perUser: number;
    readonly perEndpoint: number;
  },
): Promise<{ readonly deliveries: readonly ClaimedDelivery[]; readonly next: DeliveryPlace | null }> {
  const { turnOf, endpointId } = after ?? START;
  const { rows } = await sql<ClaimRow>`${prepared}
    WITH ${byActor(actor, 'claimed')},
    found AS MATERIALIZED (
      SELECT next.execution, next.of_user, next.of_endpoint
      FROM actor, next_deliveries(${turnOf}::uuid, ${endpointId}::uuid, ${running.map((each) => each.turnOf)}::uuid[],
        ${running.map((each) => each.endpointId)}::uuid[], ${perUser}::integer, ${perEndpoint}::integer, ${limit}::integer) AS next
      WHERE NOT EXISTS (SELECT FROM work_kinds WHERE kind = ${sql.lit(WEBHOOKS)} AND paused_at IS NOT NULL)
    ), due AS MATERIALIZED (
      SELECT execution AS id FROM found WHERE execution IS NOT NULL
    ), ${claimDue({ actor, leaseSeconds })}
    SELECT claimed.id AS "executionId", claimed.attempt, claimed.losses, d.id AS "deliveryId", d.endpoint_id AS "endpointId",
      coalesce(d.user_id, d.endpoint_id) AS "turnOf", d.event_id AS "eventId", d.type, d.about, d.happened_at AS "happenedAt",
      found.of_user AS "placeOf", found.of_endpoint AS "placeEndpoint", endpoint.url, endpoint.generation, endpoint.rotated_at AS "rotatedAt"
    FROM found LEFT JOIN claimed ON claimed.id = found.execution
      LEFT JOIN LATERAL (SELECT * FROM webhook_deliveries WHERE id = claimed.subject_id LIMIT 1) AS d ON true
      LEFT JOIN LATERAL (
        SELECT * FROM webhook_endpoints WHERE id = d.endpoint_id AND switched_off_at IS NULL AND removed_at IS NULL LIMIT 1
      ) AS endpoint ON true`.execute(db);
  const place = rows.find(({ executionId }) => executionId === null);
  return {
    deliveries: rows.flatMap(
      ({ executionId, placeOf: _of, placeEndpoint: _endpoint, url, generation, rotatedAt, ...delivery }) =>
        // An execution whose delivery is gone, which only plain SQL can do, is left to the reaper.
        executionId === null || delivery.deliveryId === null
          ? []
          : [
              {
                ...delivery,
                executionId,
                endpoint: url === null || generation === null ? null : { url, generation, rotatedAt },
              },
            ],
    ),
    next:
      place === undefined || place.placeOf === null || place.placeEndpoint === null
        ? null
        : { turnOf: place.placeOf, endpointId: place.placeEndpoint },
  };
}
