import { sql } from 'kysely';
import type { Database } from '../database/database.ts';
import { whileRunning } from '../executions/fence.ts';

/**
 * Removes what earlier executions of a job have made, all but the asset of one storage path; nothing when this execution isn't RUNNING any
 * more. What the assets stood for is left to the caller. @returns the storage paths of what it removed
 */
export async function removeAssets(
  db: Database,
  { executionId, jobId, except }: { executionId: string; jobId: string; except: string },
): Promise<readonly string[]> {
  const { rows } = await sql<{ storage_path: string }>`
    WITH ${whileRunning({ executionId, jobId })}
    DELETE FROM assets USING running
    WHERE assets.job_id = running.job_id AND assets.storage_path <> ${except}
    RETURNING assets.storage_path`.execute(db);
  return rows.map((row) => row.storage_path);
}
