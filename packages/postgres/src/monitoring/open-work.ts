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

/** PENDING executions for which no message was ever sent (`unsent`), or for which one was (`sent`). */
type Waiting = 'unsent' | 'sent';

const dispatchedAt = { unsent: sql`dispatched_at IS NULL`, sent: sql`dispatched_at IS NOT NULL` };

/**
 * Up to `limit` waiting executions of each kind. The ORDER BY names the order of the index
 * task_executions_dispatch in full: for any other order, Postgres reads and sorts the whole backlog.
 */
export function waitingExecutions(waiting: Waiting, limit: number): RawBuilder<unknown> {
  const ofKind = (kind: ExecutionKind) => sql`(
    SELECT kind, subject_id, attempt, created_at, run_at, ${sql.lit(waiting === 'sent')} AS sent FROM task_executions
    WHERE status = 'PENDING' AND kind = ${sql.lit(kind)}${kind === 'webhook' ? sql`` : sql` AND ${dispatchedAt[waiting]}`}
    ORDER BY dispatched_at NULLS FIRST, run_at LIMIT ${limit})`;
  // Webhooks have no messages: those that wait count as sent.
  const kinds = executionKinds.filter((kind) => kind !== 'webhook' || waiting === 'sent');
  return sql.join(kinds.map(ofKind), sql` UNION ALL `);
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
