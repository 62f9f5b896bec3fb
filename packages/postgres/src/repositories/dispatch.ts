import { sql } from 'kysely';
import { INLINE_CONTENT_BYTES } from '@pasteflow/domain';
import type { Database } from '../database.ts';

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
      SELECT id FROM task_executions WHERE id = ANY (${executionIds}::uuid[]) AND status = 'PENDING' ORDER BY id FOR UPDATE
    )
    UPDATE task_executions e SET dispatched_at = now() FROM sent WHERE e.id = sent.id AND e.status = 'PENDING'`.execute(
    db,
  );
}

/** Without their content where that is too large to travel inline. */
const pendingUploads = sql`
  SELECT e.id AS "executionId", p.short_code AS "shortCode", payload.content
  FROM task_executions e JOIN pastes p ON p.id = e.subject_id
    LEFT JOIN paste_payloads payload ON payload.paste_id = p.id AND p.size_bytes <= ${INLINE_CONTENT_BYTES}
  WHERE e.status = 'PENDING' AND e.kind = 'upload'`;

/**
 * Up to `limit` uploads that no message was ever sent for. `graceSeconds` leaves the api the time to send what it has just committed.
 */
export async function findUndispatched(
  db: Database,
  { graceSeconds, limit }: { graceSeconds: number; limit: number },
): Promise<readonly DueUpload[]> {
  const { rows } = await sql<DueUpload>`
    ${pendingUploads} AND e.dispatched_at IS NULL AND e.run_at < now() - make_interval(secs => ${graceSeconds})
    ORDER BY e.run_at LIMIT ${limit}`.execute(db);
  return rows;
}

/**
 * Up to `limit` uploads whose message was sent, and which are due, both more than `olderThanSeconds` ago: the message may be lost.
 */
export async function findOverdue(
  db: Database,
  { olderThanSeconds, limit }: { olderThanSeconds: number; limit: number },
): Promise<readonly DueUpload[]> {
  const { rows } = await sql<DueUpload>`
    ${pendingUploads} AND e.dispatched_at < now() - make_interval(secs => ${olderThanSeconds})
      AND e.run_at < now() - make_interval(secs => ${olderThanSeconds})
    ORDER BY e.dispatched_at LIMIT ${limit}`.execute(db);
  return rows;
}
