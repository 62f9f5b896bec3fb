import { sql, type RawBuilder } from 'kysely';
import { executionKinds, type ExecutionKind } from '../schema/executions.ts';

/** PENDING executions for which no message was ever sent (`unsent`), or for which one was (`sent`). */
export type Waiting = 'unsent' | 'sent';

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
