import {
  isTerminal,
  job,
  statesOf,
  type PasteDeletionState,
  type PasteUploadState,
  type Transition,
  type WebhookEventType,
} from '@pasteflow/domain';
import { sql } from 'kysely';
import type { Database } from '../database/database.ts';
import { literal, type EnforcedTrigger, type OwnerFunction } from '../database/objects.ts';
import { NO_NESTED_LOOPS } from '../database/planner.ts';

// Not calls of the function of domain, which docs/state-machines.md takes for the statements that make a transition.
const stored: Transition<PasteUploadState, PasteUploadState> = { from: 'IN_PROGRESS', to: 'PROCESSED' };
const failed: Transition<PasteUploadState, PasteUploadState> = { from: 'IN_PROGRESS', to: 'FAILED' };
const claimed: Transition<PasteDeletionState, PasteDeletionState> = {
  from: 'NOT_EXPIRED',
  to: 'DELETION_IN_PROGRESS',
};
const ended = statesOf(job).filter((state) => isTerminal(job, state));

const event = (type: WebhookEventType): string => literal(type);

const endpointsThatAreOn =
  'FROM webhook_endpoints e WHERE e.switched_off_at IS NULL AND e.removed_at IS NULL';

/** The endpoints of a user, or of the operators, that are to be told an event of this type. */
const listening = (whose: string, type: string): string =>
  `${endpointsThatAreOn} AND ${whose} AND ${type} = ANY (e.events)`;

/** Whether anybody is to be told anything: one look at an index that is mostly empty. */
const nobodyListens = `NOT EXISTS (SELECT ${endpointsThatAreOn})`;

/**
 * Tells the endpoints of the users, and for a NULL among them those of the operators, what has happened: a delivery and its first
 * execution for each endpoint that is to be told. A claim for deletion that is made again has been told: `webhook_deliveries_once`.
 *
 * An event that Postgres refuses, because of a damaged block for example, is counted and told to nobody, and its statement goes on: a settlement
 * that fails is repeated for ever, and keeps the place of an upload. A conflict, a lock, a full disk or a timeout fails the
 * statement, whose repetition tells the event.
 */
export const recordEventsFunction: OwnerFunction = {
  name: 'record_events',
  parameters: 'types text[], users uuid[], abouts text[], occurrences text[]',
  returns: 'void',
  body: `
    BEGIN
      WITH event AS MATERIALIZED (
        SELECT uuid_v7() AS id, t.* FROM unnest(types, users, abouts, occurrences) AS t (type, owner, about, occurrence)
      ), told AS (
        SELECT event.*, endpoint.id AS endpoint_id, endpoint.user_id FROM event CROSS JOIN LATERAL (
          SELECT e.id, e.user_id ${listening('e.user_id = event.owner', 'event.type')}
          UNION ALL
          SELECT e.id, e.user_id ${listening('event.owner IS NULL AND e.user_id IS NULL', 'event.type')}
        ) AS endpoint
      ), delivery AS (
        INSERT INTO webhook_deliveries (endpoint_id, user_id, event_id, type, about, occurrence)
        SELECT endpoint_id, user_id, id, type, about, occurrence FROM told
        ON CONFLICT DO NOTHING
        RETURNING id, user_id, endpoint_id
      )
      INSERT INTO task_executions (kind, subject_id, user_id, endpoint_id, attempt)
      SELECT 'webhook', id, user_id, endpoint_id, 1 FROM delivery;
    EXCEPTION WHEN OTHERS THEN
      IF left(SQLSTATE, 2) IN ('40', '53', '55', '57') THEN RAISE; END IF;
      IF cardinality(types) = 1 THEN
        BEGIN
          PERFORM nextval('untold_events');
        EXCEPTION WHEN OTHERS THEN -- the count is lost, and the log still names the event
        END;
        RAISE WARNING 'No endpoint is told of % of %: %', types[1], occurrences[1], SQLERRM;
        RETURN;
      END IF;
      FOR i IN 1..cardinality(types) LOOP
        PERFORM record_events(types[i:i], users[i:i], abouts[i:i], occurrences[i:i]);
      END LOOP;
    END`,
};

/** The janitor may read no sequence. */
export const countUntoldEventsFunction: OwnerFunction = {
  name: 'count_untold_events',
  parameters: '',
  returns: 'bigint',
  body: `
    BEGIN
      RETURN (SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM untold_events);
    END`,
};

/** How many events Postgres has refused since the installation, of which no endpoint is told. */
export async function countUntoldEvents(db: Database): Promise<number> {
  const { rows } = await sql<{ count: number }>`SELECT count_untold_events()::float8 AS count`.execute(db);
  return rows[0]?.count ?? 0;
}

/** Whether an endpoint of the owner, or for a NULL of the operators, listens: one look at the index for each event. */
const somebodyListens = `CASE WHEN owner IS NULL
          THEN EXISTS (SELECT ${listening('e.user_id IS NULL', 'happened.type')})
          ELSE EXISTS (SELECT ${listening('e.user_id = owner', 'happened.type')}) END`;

/**
 * The body of a trigger that calls `record_events` with what `happened`, a SELECT of type, owner, about and occurrence, says. It
 * looks first whether anybody is to be told: most statements are about pastes of users without an endpoint.
 */
const recordWhat = (happened: string): string => `
    BEGIN
      IF ${nobodyListens} THEN RETURN NULL; END IF;
      PERFORM record_events(array_agg(type), array_agg(owner), array_agg(about), array_agg(occurrence)) FROM (${happened}) AS happened
        WHERE ${somebodyListens}
        HAVING count(*) > 0;
      RETURN NULL;
    END`;

function eventsOf(table: string, on: 'UPDATE' | 'INSERT', happened: string): EnforcedTrigger {
  const rows = on === 'UPDATE' ? 'OLD TABLE AS old_rows NEW TABLE AS new_rows' : 'NEW TABLE AS new_rows';
  return {
    table,
    name: `events_of_${table}`,
    function: `events_of_${table}`,
    runsAsOwner: true,
    settings: NO_NESTED_LOOPS,
    body: recordWhat(happened),
    definition: `AFTER ${on} ON ${table} REFERENCING ${rows} FOR EACH STATEMENT`,
  };
}

/**
 * What webhooks tell, recorded by the statement that makes it true, whoever runs that statement: no event is lost or
 * invented. An anonymous paste has no owner to be told.
 */
export const eventTriggers: readonly EnforcedTrigger[] = [
  eventsOf(
    'pastes',
    'UPDATE',
    `
        SELECT told.type, told.owner, n.short_code AS about, n.id::text AS occurrence
        FROM old_rows o JOIN new_rows n ON n.id = o.id CROSS JOIN LATERAL (
          SELECT CASE WHEN o.status = ${literal(stored.from)} AND n.status = ${literal(stored.to)} THEN ${event('paste.stored')}
            WHEN o.status = ${literal(failed.from)} AND n.status = ${literal(failed.to)} THEN ${event('paste.failed')} END, n.user_id, n.user_id IS NOT NULL
          UNION ALL SELECT CASE WHEN o.status = ${literal(failed.from)} AND n.status = ${literal(failed.to)} THEN ${event('upload.failed')} END, NULL, true
          UNION ALL SELECT CASE WHEN o.deletion_status = ${literal(claimed.from)} AND n.deletion_status = ${literal(claimed.to)} THEN
            CASE WHEN n.burned_at IS NOT NULL THEN ${event('paste.read')}
              WHEN n.deletion_requested_at IS NOT NULL THEN ${event('paste.deleted')} ELSE ${event('paste.expired')} END END, n.user_id, n.user_id IS NOT NULL
        ) AS told (type, owner, has_audience)
        WHERE told.type IS NOT NULL AND told.has_audience`,
  ),
  eventsOf(
    'jobs',
    'UPDATE',
    `
        SELECT ${event('job.ended')} AS type, n.user_id AS owner, n.id::text AS about, n.id::text AS occurrence
        FROM old_rows o JOIN new_rows n ON n.id = o.id
        WHERE o.status <> n.status AND n.status IN (${ended.map(literal).join(', ')})`,
  ),
  eventsOf(
    'deposits',
    'INSERT',
    `
        SELECT ${event('deposit.arrived')} AS type, r.user_id AS owner, r.code AS about, n.short_code AS occurrence
        FROM new_rows n JOIN secret_requests r ON r.id = n.request_id`,
  ),
  eventsOf(
    'paste_reports',
    'INSERT',
    `
        SELECT ${event('report.opened')} AS type, NULL::uuid AS owner, p.short_code AS about, n.id::text AS occurrence
        FROM new_rows n JOIN pastes p ON p.id = n.paste_id`,
  ),
];
