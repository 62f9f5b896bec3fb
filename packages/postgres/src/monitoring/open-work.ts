import { sql, type RawBuilder } from 'kysely';
import { strandedAmongOldest, type Strandable } from '../executions/rescue.ts';
import { executionsAhead, type TimeBounds } from '../executions/times-ahead.ts';
import { jobSubject } from '../jobs/job-subject.ts';
import { uploadSubject } from '../pastes/upload-subject.ts';
import { deliverySubject } from '../webhooks/delivery-subject.ts';
import { executionKinds, type ExecutionKind } from '../schema/executions.ts';

/** Counts stop here, so that reading the figures costs the same on any table and under any backlog. */
export const MAX_COUNTED = 100_000;

/** The api sends within moments of the commit. The relay sends within 10 s what the api could not. */
export const UNSENT_AFTER_SECONDS = 10;

/**
 * PENDING executions for which no message was ever sent (`unsent`), or for which one was (`sent`). Deliveries of webhooks
 * have no messages (`none`).
 */
type Waiting = 'unsent' | 'sent' | 'none';

const dispatchedAt = {
  unsent: sql`dispatched_at IS NULL`,
  sent: sql`dispatched_at IS NOT NULL`,
  none: sql`true`,
};

/**
 * Up to `limit` waiting executions of each kind. The ORDER BY names the order of the index
 * task_executions_dispatch in full: for any other order, Postgres reads and sorts the whole backlog.
 */
export function waitingExecutions(waiting: Waiting, limit: number): RawBuilder<unknown> {
  const ofKind = (kind: ExecutionKind) => sql`(
    SELECT kind, subject_id, attempt, created_at, run_at, ${sql.lit(waiting)} AS message FROM task_executions
    WHERE status = 'PENDING' AND kind = ${sql.lit(kind)} AND ${dispatchedAt[waiting]}
    ORDER BY dispatched_at NULLS FIRST, run_at LIMIT ${limit})`;
  const kinds = executionKinds.filter((kind) => (kind === 'webhook') === (waiting === 'none'));
  return sql.join(kinds.map(ofKind), sql` UNION ALL `);
}

/** Endpoints that are looked at. */
const MAX_ENDPOINTS = 1000;

/**
 * For each of up to `MAX_ENDPOINTS` endpoints the due delivery that has waited longest, unless a worker is sending one of
 * the same user: whoever has slow endpoints waits for them, and no worker is missing. Steps through the index of the
 * claims, as these do.
 */
export function waitingDeliveries(): RawBuilder<unknown> {
  const place = sql`coalesce(e.user_id, e.endpoint_id), e.endpoint_id`;
  const first = (behind: RawBuilder<unknown>) => sql`
      SELECT coalesce(e.user_id, e.endpoint_id) AS turn_of, e.endpoint_id, e.subject_id, e.attempt, e.run_at
      FROM task_executions e WHERE e.kind = 'webhook' AND e.status = 'PENDING'${behind}
      ORDER BY ${place}, e.run_at LIMIT 1`;
  return sql`
    WITH RECURSIVE oldest AS (
      (${first(sql``)})
      UNION ALL
      SELECT next.* FROM oldest CROSS JOIN LATERAL (${first(sql` AND (${place}) > (oldest.turn_of, oldest.endpoint_id)`)}) AS next
    ), busy AS MATERIALIZED (
      SELECT coalesce(user_id, endpoint_id) AS turn_of FROM task_executions WHERE lease_expires_at IS NOT NULL AND kind = 'webhook'
    )
    SELECT 'webhook' AS kind, subject_id, attempt, run_at FROM (SELECT * FROM oldest LIMIT ${sql.lit(MAX_ENDPOINTS)}) AS oldest
    WHERE run_at <= now() AND turn_of NOT IN (SELECT turn_of FROM busy)`;
}

/** The executions of each kind that are ahead, see `executionsAhead`. */
export function workAhead(bounds: TimeBounds, limit: number): RawBuilder<unknown> {
  return sql.join(
    executionKinds.map((kind) => executionsAhead(kind, bounds, limit)),
    sql` UNION ALL `,
  );
}

/** A SELECT of stranded work, among the oldest work of each kind: `kind`, `subject_id`. */
export function strandedWork(): RawBuilder<unknown> {
  const ofKind = (subject: Strandable) => sql`
    SELECT * FROM (WITH ${strandedAmongOldest(subject)} SELECT ${sql.lit(subject.kind)} AS kind, id AS subject_id FROM stranded) AS stranded`;
  return sql.join([uploadSubject, jobSubject, deliverySubject].map(ofKind), sql` UNION ALL `);
}
