import { sql, type RawBuilder } from 'kysely';
import { INLINE_CONTENT_BYTES } from '@pasteflow/domain';
import type { Database } from '../database/database.ts';
import { opaqueState } from './opaque-state.ts';

/** A PENDING execution that wants a message. */
export interface DueUpload {
  readonly executionId: string;
  readonly shortCode: string;
  /** The content, when it is small enough to travel inline; else null. */
  readonly content: Buffer | null;
}

/** Marks executions as dispatched, after SQS has taken their messages. A claim may have been quicker: that marks them itself. */
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
 * What `due` picks, with its content where that is small enough to travel inline. The limit is inside: joined first, a backlog of 100,000
 * would be read whole to send 500 of it.
 */
function withContent(due: RawBuilder<unknown>): RawBuilder<DueUpload> {
  return sql<DueUpload>`
    WITH due AS MATERIALIZED (${due})
    SELECT due.id AS "executionId", p.short_code AS "shortCode", payload.content
    FROM due JOIN pastes p ON p.id = due.subject_id
      LEFT JOIN paste_payloads payload ON payload.paste_id = p.id AND p.size_bytes <= ${INLINE_CONTENT_BYTES}`;
}

/**
 * Up to `limit` uploads that no message was ever sent for. `graceSeconds` leaves the api the time to send what it has just committed.
 */
export async function findUndispatched(
  db: Database,
  { graceSeconds, limit }: { graceSeconds: number; limit: number },
): Promise<readonly DueUpload[]> {
  const due = sql`
    SELECT id, subject_id FROM task_executions
    WHERE status = 'PENDING' AND kind = 'upload' AND dispatched_at IS NULL
      AND run_at < now() - make_interval(secs => ${graceSeconds})
    ORDER BY dispatched_at NULLS FIRST, run_at LIMIT ${limit}`; // the index's own order: nothing is sorted
  return (await withContent(due).execute(db)).rows;
}

/**
 * Up to `limit` uploads whose message was sent, and which are due, both more than `olderThanSeconds` ago: the message may be lost.
 */
export async function findOverdue(
  db: Database,
  { olderThanSeconds, limit }: { olderThanSeconds: number; limit: number },
): Promise<readonly DueUpload[]> {
  const due = sql`
    SELECT id, subject_id FROM task_executions
    WHERE status = 'PENDING' AND kind = 'upload' AND dispatched_at < now() - make_interval(secs => ${olderThanSeconds})
      AND run_at < now() - make_interval(secs => ${olderThanSeconds})
    ORDER BY dispatched_at NULLS FIRST LIMIT ${limit}`;
  return (await withContent(due).execute(db)).rows;
}

/** A PENDING execution of a job that wants a message. */
export interface DueJob {
  readonly executionId: string;
  readonly jobId: string;
}

/** Up to `limit` jobs that no message was ever sent for; as `findUndispatched`. */
export async function findUndispatchedJobs(
  db: Database,
  { graceSeconds, limit }: { graceSeconds: number; limit: number },
): Promise<readonly DueJob[]> {
  const { rows } = await sql<DueJob>`
    SELECT id AS "executionId", subject_id AS "jobId" FROM task_executions
    WHERE status = 'PENDING' AND kind = 'job' AND dispatched_at IS NULL
      AND run_at < now() - make_interval(secs => ${graceSeconds})
    ORDER BY dispatched_at NULLS FIRST, run_at LIMIT ${limit}`.execute(db);
  return rows;
}

/** Up to `limit` jobs whose message may be lost; as `findOverdue`. */
export async function findOverdueJobs(
  db: Database,
  { olderThanSeconds, limit }: { olderThanSeconds: number; limit: number },
): Promise<readonly DueJob[]> {
  const { rows } = await sql<DueJob>`
    SELECT id AS "executionId", subject_id AS "jobId" FROM task_executions
    WHERE status = 'PENDING' AND kind = 'job' AND dispatched_at < now() - make_interval(secs => ${olderThanSeconds})
      AND run_at < now() - make_interval(secs => ${olderThanSeconds})
    ORDER BY dispatched_at NULLS FIRST LIMIT ${limit}`.execute(db);
  return rows;
}

/**
 * How many jobs wait for a worker: due, dispatched, and not claimed. Each of them should have a message that waits to be received. It counts up to `most`, and costs what that costs.
 */
export async function countWaitingJobs(db: Database, { most }: { most: number }): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*)::integer AS count FROM (
      SELECT FROM task_executions
      WHERE status = 'PENDING' AND kind = 'job' AND dispatched_at IS NOT NULL AND run_at <= now() LIMIT ${most}
    ) AS waiting`.execute(db);
  return rows[0]?.count ?? 0;
}
