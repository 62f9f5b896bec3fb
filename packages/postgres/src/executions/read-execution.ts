import { parseReason } from '@pasteflow/domain';
import { sql } from 'kysely';
import type { Database } from '../database/database.ts';

/**
 * What an execution is an attempt at: the short code of a paste, or the id of a job. null: there is no such
 * execution.
 */
export async function findSubjectOf(db: Database, executionId: string): Promise<string | null> {
  const { rows } = await sql<{ subject: string | null }>`
    SELECT CASE e.kind WHEN 'upload' THEN p.short_code ELSE e.subject_id::text END AS subject
    FROM task_executions e LEFT JOIN pastes p ON p.id = e.subject_id
    WHERE e.id = ${executionId}`.execute(db);
  return rows[0]?.subject ?? null;
}

/**
 * Whether an execution that this process no longer owns was ended by a cancel of its job, and not as a
 * zombie.
 */
export async function wasCancelled(db: Database, executionId: string): Promise<boolean> {
  const row = await db
    .selectFrom('task_executions')
    .select('error')
    .where('id', '=', executionId)
    .executeTakeFirst();
  const error = row?.error ?? null;
  return error !== null && parseReason(error).class === 'cancelled';
}
