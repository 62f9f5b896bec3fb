import { sql, type RawBuilder } from 'kysely';
import type { Database } from '../database/database.ts';
import type { ExecutionKind } from '../schema/task-executions.ts';
import { opaqueState } from './opaque-state.ts';

/** What the search for messages to send needs to know about uploads or jobs. */
export interface DispatchableSubject<Message> {
  readonly kind: ExecutionKind;
  /** A SELECT of what their messages carry, from the CTE `due` (id, subject_id). */
  readonly selectMessages: RawBuilder<Message>;
}

/** Stamps executions as dispatched, after SQS has accepted their messages. An execution that is already claimed has its stamp from the claim. */
export async function stampDispatched(db: Database, executionIds: readonly string[]): Promise<void> {
  if (executionIds.length === 0) return;
  await sql`
    WITH sent AS MATERIALIZED (
      SELECT id FROM task_executions e
      WHERE id = ANY (${executionIds}::uuid[]) AND ${opaqueState('e')} = 'PENDING' ORDER BY id FOR UPDATE
    )
    UPDATE task_executions e SET dispatched_at = now() FROM sent WHERE e.id = sent.id AND ${opaqueState('e')} = 'PENDING'`.execute(
    db,
  );
}

/**
 * Up to `limit` executions for which no message was ever sent, the longest due first. `graceSeconds` leaves the api the time to send the
 * messages of what it has just committed.
 */
export function findUndispatched<Message>(
  db: Database,
  subject: DispatchableSubject<Message>,
  { graceSeconds, limit }: { graceSeconds: number; limit: number },
): Promise<readonly Message[]> {
  const isUndispatched = sql`dispatched_at IS NULL AND run_at < now() - make_interval(secs => ${graceSeconds})`;
  return findDue(db, subject, isUndispatched, limit);
}

/**
 * Up to `limit` executions whose message was sent, and which are due, both more than `olderThanSeconds` ago: the message may be lost. The
 * longest sent come first.
 */
export function findOverdue<Message>(
  db: Database,
  subject: DispatchableSubject<Message>,
  { olderThanSeconds, limit }: { olderThanSeconds: number; limit: number },
): Promise<readonly Message[]> {
  const isOverdue = sql`dispatched_at < now() - make_interval(secs => ${olderThanSeconds})
    AND run_at < now() - make_interval(secs => ${olderThanSeconds})`;
  return findDue(db, subject, isOverdue, limit);
}

/**
 * The rows come in the order of the index `task_executions_dispatch`, so nothing is sorted. The limit is inside the CTE: with the join
 * first, a backlog of 100,000 rows would be read completely to send 500 of them.
 */
async function findDue<Message>(
  db: Database,
  { kind, selectMessages }: DispatchableSubject<Message>,
  condition: RawBuilder<unknown>,
  limit: number,
): Promise<readonly Message[]> {
  const { rows } = await sql<Message>`
    WITH due AS MATERIALIZED (
      SELECT id, subject_id FROM task_executions
      WHERE status = 'PENDING' AND kind = ${sql.lit(kind)} AND ${condition}
      ORDER BY dispatched_at NULLS FIRST, run_at LIMIT ${limit}
    )
    ${selectMessages}`.execute(db);
  return rows;
}

/**
 * The number of executions that wait for a worker: due, dispatched, and not claimed. A message should wait in the queue for each of them.
 * The count stops at `limit`, and so does its cost.
 */
export async function countWaiting(
  db: Database,
  { kind }: { readonly kind: ExecutionKind },
  { limit }: { limit: number },
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*)::integer AS count FROM (
      SELECT FROM task_executions
      WHERE status = 'PENDING' AND kind = ${sql.lit(kind)} AND dispatched_at IS NOT NULL AND run_at <= now() LIMIT ${limit}
    ) AS waiting`.execute(db);
  return rows[0]?.count ?? 0;
}
