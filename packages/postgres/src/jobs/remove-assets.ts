import { sql } from 'kysely';
import type { Database } from '../database/database.ts';
import { whileRunning } from '../executions/fence.ts';

/**
 * Removes the assets that earlier executions of a job created, except the asset at one storage path. Does
 * nothing when this execution is not RUNNING. The caller deletes the objects.
 * @returns the storage paths of the removed assets
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
