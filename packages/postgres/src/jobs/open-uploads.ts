import { sql } from 'kysely';
import type { Database } from '../database/database.ts';

/** What a user has open. */
interface OpenWork {
  readonly uploads: number;
  readonly bytes: number;
  /** How long the oldest of the uploads has been open. */
  readonly oldestSeconds: number;
  readonly jobs: number;
}

/** Counts up to `limit` uploads of a user that have not ended, the oldest first. */
export async function readOpenUploads(db: Database, userId: string, limit: number): Promise<OpenWork> {
  const { rows } = await sql<OpenWork>`
    SELECT count(*)::integer AS uploads, coalesce(sum(bytes), 0)::float8 AS bytes,
      coalesce(extract(epoch FROM now() - min(created_at)), 0)::float8 AS "oldestSeconds", (
        SELECT count(*)::integer FROM task_executions
        WHERE kind = 'job' AND status IN ('PENDING', 'RUNNING') AND user_id = ${userId}::uuid
      ) AS jobs
    FROM (
      SELECT created_at, octet_length(content) AS bytes FROM paste_payloads
      WHERE user_id = ${userId}::uuid ORDER BY user_id, created_at LIMIT ${limit}
    ) AS open`.execute(db);
  return rows[0] as OpenWork;
}
