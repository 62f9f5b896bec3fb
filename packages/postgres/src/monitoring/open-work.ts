import { sql, type RawBuilder } from 'kysely';
import { strandedAmongOldest, type Strandable } from '../executions/rescue.ts';
import { isDueTooLate, isLeasedTooLong, type TimeBounds } from '../executions/times-ahead.ts';
import { jobSubject } from '../jobs/job-subject.ts';
import { uploadSubject } from '../pastes/upload-subject.ts';
import { executionKinds, type ExecutionKind } from '../schema/executions.ts';

/** Counts stop here, so that reading the figures costs the same on any table and under any backlog. */
export const MAX_COUNTED = 100_000;

/** The api sends within moments of the commit. The relay sends within 10 s what the api could not. */
export const UNSENT_AFTER_SECONDS = 10;

/** PENDING executions for which no message was ever sent (`unsent`), or for which one was (`sent`). */
type Waiting = 'unsent' | 'sent';

const dispatchedAt = { unsent: sql`dispatched_at IS NULL`, sent: sql`dispatched_at IS NOT NULL` };

/**
 * Up to `limit` waiting executions of each kind. The ORDER BY names the order of the index
 * task_executions_dispatch in full: for any other order, Postgres reads and sorts the whole backlog.
 */
export function waitingExecutions(waiting: Waiting, limit: number): RawBuilder<unknown> {
  const ofKind = (kind: ExecutionKind) => sql`(
    SELECT kind, subject_id, attempt, created_at, run_at, dispatched_at IS NOT NULL AS sent FROM task_executions
    WHERE status = 'PENDING' AND kind = ${sql.lit(kind)} AND ${dispatchedAt[waiting]}
    ORDER BY dispatched_at NULLS FIRST, run_at LIMIT ${limit})`;
  return sql.join(executionKinds.map(ofKind), sql` UNION ALL `);
}

/**
 * Up to `limit` waiting and as many running executions of each kind whose times are further ahead than they
 * can be: `kind`, `subject_id`, `attempt`, `worker_id` and `until`.
 */
export function executionsAhead(bounds: TimeBounds, limit: number): RawBuilder<unknown> {
  const ofKind = (kind: ExecutionKind) => sql`(
    SELECT kind, subject_id, attempt, worker_id, greatest(run_at, dispatched_at) AS until FROM task_executions
    WHERE status = 'PENDING' AND kind = ${sql.lit(kind)} AND ${isDueTooLate(kind, bounds)} LIMIT ${limit})
    UNION ALL (
    SELECT kind, subject_id, attempt, worker_id, lease_expires_at FROM task_executions
    WHERE kind = ${sql.lit(kind)} AND ${isLeasedTooLong(bounds)} LIMIT ${limit})`;
  return sql.join(executionKinds.map(ofKind), sql` UNION ALL `);
}

/** A SELECT of stranded work, among the oldest work of each kind: `kind`, `subject_id`. */
export function strandedWork(): RawBuilder<unknown> {
  const ofKind = (subject: Strandable) => sql`
    SELECT * FROM (WITH ${strandedAmongOldest(subject)} SELECT ${sql.lit(subject.kind)} AS kind, id AS subject_id FROM stranded) AS stranded`;
  return sql.join([uploadSubject, jobSubject].map(ofKind), sql` UNION ALL `);
}
