import { INTERRUPTED } from '@pasteflow/domain';
import { sql } from 'kysely';
import type { Database } from '../database/database.ts';

/** How often a job was interrupted since it made its last asset, or since its creation. */
export async function countStops(db: Database, jobId: string): Promise<number> {
  const { rows } = await sql<{ stops: number }>`
    SELECT count(*)::integer AS stops FROM task_executions
    WHERE subject_id = ${jobId} AND kind = 'job' AND error = ${INTERRUPTED}
      AND finished_at > coalesce((SELECT max(created_at) FROM assets WHERE job_id = ${jobId}), '-infinity')`.execute(
    db,
  );
  return rows[0]?.stops ?? 0;
}
