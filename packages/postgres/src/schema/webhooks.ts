import type { WebhookDeliveryState, WebhookEventType } from '@pasteflow/domain';
import type { Generated } from 'kysely';

/** Why an endpoint is told nothing any more: it answered 410, it failed for three days, or an operator says so. */
export type SwitchedOffFor = 'gone' | 'failing' | 'operator';

export interface WebhookEndpointsTable {
  id: Generated<string>;
  /** NULL: the endpoint of the operators. */
  user_id: string | null;
  /** A secret: never logged. NULL once the endpoint is removed. */
  url: string | null;
  events: readonly WebhookEventType[];
  /** Of the secret, from 1. */
  generation: Generated<number>;
  /** When the secret was last changed; NULL: never. */
  rotated_at: Date | null;
  created_at: Generated<Date>;
  /** When the first delivery failed after the last one that succeeded; NULL: none has. */
  failing_since: Date | null;
  switched_off_at: Date | null;
  switched_off_for: SwitchedOffFor | null;
  removed_at: Date | null;
}

/** One event for one endpoint. Triggers insert them. */
export interface WebhookDeliveriesTable {
  id: Generated<string>;
  endpoint_id: string;
  /** The user of the endpoint; NULL: the operators. */
  user_id: string | null;
  /** The same for each endpoint that is told of the event. */
  event_id: string;
  type: WebhookEventType;
  /** The short code, the job id or the id of the request. */
  about: string;
  /** What has happened, once for an endpoint and a type. */
  occurrence: string;
  happened_at: Generated<Date>;
  status: Generated<WebhookDeliveryState>;
  created_at: Generated<Date>;
  ended_at: Date | null;
  /** The status of the last answer; NULL: there was none. */
  answered: number | null;
  failure_reason: string | null;
  /** The delivery whose event is sent again; NULL: this is the first one. */
  retry_of: string | null;
}
