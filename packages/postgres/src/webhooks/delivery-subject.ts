import {
  openStatesOf,
  transition,
  WEBHOOK_FAILING_SECONDS,
  webhookDelivery,
  type WebhookDeliveryState,
} from '@pasteflow/domain';
import { sql } from 'kysely';
import type { Settlement } from '../executions/settle.ts';
import type { SweptSubject } from '../executions/subject.ts';

const deliver = transition(webhookDelivery, 'WAITING', 'DELIVERED');
const giveUp = transition(webhookDelivery, 'WAITING', 'FAILED');

export interface DeliveryName {
  readonly deliveryId: string;
  readonly endpointId: string;
}

/** A settlement for each statement: those of several endpoints could wait for each other's rows. */
export interface DeliverySettlement extends Settlement {
  /** The status of the answer; null: there was none. */
  readonly answered: number | null;
  /**
   * What the attempt says of the endpoint: that it works, that it does not, or that it is gone for ever (410); null:
   * nothing.
   */
  readonly endpoint: 'works' | 'fails' | 'gone' | null;
}

/**
 * Deliveries of webhooks, as the statements on executions see them. They have no queue: `claimDeliveries` finds those
 * that are due.
 *
 * The end of an attempt also says whether the endpoint works. Its row is changed, and waited for, only when that is
 * news.
 */
export const deliverySubject: SweptSubject<DeliveryName, DeliverySettlement, WebhookDeliveryState> = {
  kind: 'webhook',
  openState: deliver.from,
  openStates: openStatesOf(webhookDelivery),
  selectOldestOpen: (limit) =>
    sql`SELECT id FROM webhook_deliveries WHERE ended_at IS NULL ORDER BY id LIMIT ${limit}`,
  successorColumns: {
    endpoint_id: sql`(SELECT endpoint_id FROM webhook_deliveries d WHERE d.id = ended.subject_id)`,
  },
  executionColumns: { user_id: sql`subject.user_id`, endpoint_id: sql`subject.endpoint_id` },
  endingColumns: (settlements) => ({
    answered: settlements.map(({ answered }) => answered?.toString() ?? null),
    endpoint: settlements.map(({ endpoint }) => endpoint),
  }),
  onEnd: sql`, settled AS (
      UPDATE webhook_deliveries d
      SET status = CASE WHEN ended.next_attempt IS NOT NULL THEN d.status WHEN ended.give_up_reason IS NULL THEN ${deliver.to} ELSE ${giveUp.to} END,
        answered = coalesce(ended.answered::smallint, d.answered),
        failure_reason = ended.give_up_reason,
        ended_at = CASE WHEN ended.next_attempt IS NULL THEN now() END
      FROM ended
      WHERE d.id = ended.subject_id AND d.id = ANY (ARRAY(SELECT subject_id FROM ended)) AND d.status = ${deliver.from}
      RETURNING d.id, d.status, d.endpoint_id, ended.endpoint
    ), judged AS (
      UPDATE webhook_endpoints e
      SET failing_since = CASE WHEN settled.endpoint <> 'works' THEN coalesce(e.failing_since, now()) END,
        switched_off_at = CASE WHEN settled.endpoint <> 'works' AND (settled.endpoint = 'gone' OR e.failing_since < ${longAgo()}) THEN coalesce(e.switched_off_at, now())
          ELSE e.switched_off_at END,
        switched_off_for = CASE WHEN e.switched_off_at IS NOT NULL THEN e.switched_off_for WHEN settled.endpoint = 'gone' THEN 'gone'
          WHEN settled.endpoint = 'fails' AND e.failing_since < ${longAgo()} THEN 'failing' END
      FROM settled
      WHERE e.id = settled.endpoint_id AND e.id = ANY (ARRAY(SELECT endpoint_id FROM settled)) AND e.removed_at IS NULL
        AND CASE settled.endpoint WHEN 'works' THEN e.failing_since IS NOT NULL WHEN 'gone' THEN e.switched_off_at IS NULL
          WHEN 'fails' THEN e.failing_since IS NULL OR e.switched_off_at IS NULL AND e.failing_since < ${longAgo()} END
    )`,
  table: 'webhook_deliveries',
  nameColumns: sql`subject.id AS "deliveryId", subject.endpoint_id AS "endpointId"`,
};

function longAgo() {
  return sql`now() - make_interval(secs => ${sql.lit(WEBHOOK_FAILING_SECONDS)})`;
}
