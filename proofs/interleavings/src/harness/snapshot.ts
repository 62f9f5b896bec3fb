import { sql } from 'kysely';
import { prepared } from '@pasteflow/postgres/interleavings';
import type { Database } from '@pasteflow/postgres';

interface PasteState {
  readonly code: string;
  readonly slug: string | null;
  readonly status: string;
  readonly deletion: string;
  readonly expired: boolean;
  /** Somebody has asked for the deletion. */
  readonly isDeleted: boolean;
  readonly hasPayload: boolean;
  /** An operator took a paste of this code down. */
  readonly hasTakedown: boolean;
  readonly isTakenDown: boolean;
  readonly isBurned: boolean;
  readonly supersedes: string | null;
  readonly supersededBy: string | null;
}

interface RequestState {
  readonly code: string;
  readonly places: number;
  readonly taken: number;
  /** The short codes of its deposits. */
  readonly deposits: readonly string[];
}

interface EndpointState {
  readonly id: string;
  readonly events: readonly string[];
  readonly isOn: boolean;
}

interface DeliveryState {
  readonly id: string;
  readonly endpoint: string;
  readonly event: string;
  readonly type: string;
  /** What has happened: the id of the paste or the job, or the short code of the deposit. */
  readonly occurrence: string;
  readonly isOpen: boolean;
  readonly isAgain: boolean;
}

interface SubjectState {
  readonly id: string;
  readonly isOpen: boolean;
  readonly openExecutions: number;
  /** The number of the last attempt; null: there is none. */
  readonly attempt: number | null;
}

export interface Transition {
  readonly machine: string;
  readonly entity: string;
  readonly from: string;
  readonly to: string;
  readonly actor: string;
  readonly reason: string | null;
}

interface MemberState {
  readonly id: string;
  readonly isErased: boolean;
  /** Those by invitations that are good. */
  readonly sessions: number;
  readonly accepted: number;
  /** Of the newest invitation; null: the user has none. */
  readonly isNewestAccepted: boolean | null;
  readonly open: number;
}

/** Everything that a schedule can change. */
export interface Snapshot {
  /** Where each machine is, by `machine entity`. */
  readonly states: Readonly<Record<string, string>>;
  readonly pastes: readonly PasteState[];
  readonly subjects: readonly SubjectState[];
  readonly transitions: readonly Transition[];
  readonly openJobs: number;
  readonly requests: readonly RequestState[];
  readonly endpoints: readonly EndpointState[];
  readonly deliveries: readonly DeliveryState[];
  readonly members: readonly MemberState[];
  readonly lastTransition: number;
}

/** Functions of the owner record `user of the database (actor)`. */
function actorOf(recorded: string): string {
  return /^\w+ \((.+)\)$/.exec(recorded)?.[1] ?? recorded;
}

/** One statement, and so one snapshot. `since`: the id of the last transition that is left out. */
export async function readSnapshot(db: Database, since: number): Promise<Snapshot> {
  const { rows } = await sql<Snapshot>`${prepared}
    SELECT
      (SELECT coalesce(json_object_agg(key, state), '{}') FROM (
        SELECT 'paste_upload ' || id AS key, status AS state FROM pastes
        UNION ALL SELECT 'paste_deletion ' || id, deletion_status FROM pastes
        UNION ALL SELECT 'job ' || id, status FROM jobs
        UNION ALL SELECT 'secret_request ' || id, status FROM secret_requests
        UNION ALL SELECT 'webhook_delivery ' || id, status FROM webhook_deliveries
        UNION ALL SELECT 'task_execution ' || id, status FROM task_executions) AS machine) AS states,
      (SELECT coalesce(json_agg(paste), '[]') FROM (
        SELECT short_code AS code, slug, status, deletion_status AS deletion, coalesce(expires_at <= now(), false) AS expired,
          deletion_requested_at IS NOT NULL AS "isDeleted",
          EXISTS (SELECT FROM paste_payloads WHERE paste_id = id) AS "hasPayload",
          EXISTS (SELECT FROM takedowns t WHERE t.short_code = pastes.short_code) AS "hasTakedown",
          taken_down_for IS NOT NULL AS "isTakenDown", burned_at IS NOT NULL AS "isBurned", supersedes, superseded_by AS "supersededBy"
        FROM pastes) AS paste) AS pastes,
      (SELECT coalesce(json_agg(subject), '[]') FROM (
        SELECT id, bool_or(open) AS "isOpen", (
          SELECT count(*) FROM task_executions e WHERE e.subject_id = s.id AND e.status IN ('PENDING', 'RUNNING')) AS "openExecutions", (
          SELECT attempt FROM task_executions e WHERE e.subject_id = s.id ORDER BY created_at DESC, id DESC LIMIT 1) AS attempt
        FROM (
          SELECT id, status = 'IN_PROGRESS' AS open FROM pastes
          UNION ALL SELECT id, completed_at IS NULL FROM jobs
          UNION ALL SELECT id, ended_at IS NULL FROM webhook_deliveries
          UNION ALL SELECT subject_id, false FROM task_executions) AS s GROUP BY id) AS subject) AS subjects,
      (SELECT coalesce(json_agg(t ORDER BY id), '[]') FROM state_transitions t WHERE id > ${since}::bigint) AS transitions,
      (SELECT count(*)::integer FROM jobs WHERE completed_at IS NULL) AS "openJobs",
      (SELECT coalesce(json_agg(request), '[]') FROM (
        SELECT code, places, taken, ARRAY(SELECT short_code FROM deposits WHERE request_id = id ORDER BY number) AS deposits
        FROM secret_requests) AS request) AS requests,
      (SELECT coalesce(json_agg(endpoint), '[]') FROM (
        SELECT id, events, switched_off_at IS NULL AND removed_at IS NULL AS "isOn" FROM webhook_endpoints) AS endpoint) AS endpoints,
      (SELECT coalesce(json_agg(delivery), '[]') FROM (
        SELECT id, endpoint_id AS endpoint, event_id AS event, type, occurrence, ended_at IS NULL AS "isOpen", retry_of IS NOT NULL AS "isAgain"
        FROM webhook_deliveries) AS delivery) AS deliveries,
      (SELECT coalesce(json_agg(member), '[]') FROM (
        SELECT id, erased_at IS NOT NULL AS "isErased",
          (SELECT count(*) FROM api_tokens WHERE user_id = u.id AND by_invitation AND revoked_at IS NULL) AS sessions,
          (SELECT count(*) FROM invitations WHERE user_id = u.id AND accepted_at IS NOT NULL) AS accepted,
          (SELECT accepted_at IS NOT NULL FROM invitations WHERE user_id = u.id ORDER BY id DESC LIMIT 1) AS "isNewestAccepted",
          (SELECT count(*) FROM invitations WHERE user_id = u.id AND accepted_at IS NULL AND ended_at IS NULL AND u.erased_at IS NULL) AS open
        FROM users u WHERE id IN (SELECT user_id FROM invitations UNION ALL SELECT user_id FROM api_tokens)) AS member) AS members,
      (SELECT coalesce(max(id), 0)::integer FROM state_transitions) AS "lastTransition"`.execute(db);
  const snapshot = rows[0]!;
  return {
    ...snapshot,
    transitions: snapshot.transitions.map((each) => ({ ...each, actor: actorOf(each.actor) })),
  };
}
