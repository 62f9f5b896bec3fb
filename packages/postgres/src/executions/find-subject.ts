import { sql } from 'kysely';
import type { Database } from '../database/database.ts';

/** What an execution is an attempt at: the short code of a paste, or the id of a job. null: there is no such execution. */
export async function findSubjectOf(db: Database, executionId: string): Promise<string | null> {
  const { rows } = await sql<{ subject: string | null }>`
    SELECT CASE e.kind WHEN 'upload' THEN p.short_code ELSE e.subject_id::text END AS subject
    FROM task_executions e LEFT JOIN pastes p ON p.id = e.subject_id
    WHERE e.id = ${executionId}`.execute(db);
  return rows[0]?.subject ?? null;
}
