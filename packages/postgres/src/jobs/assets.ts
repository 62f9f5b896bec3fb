import { ExecutionTakenError } from '@pasteflow/domain';
import { sql } from 'kysely';
import type { Database } from '../database/database.ts';
import { whileRunning } from '../executions/fence.ts';

export interface NewAsset {
  readonly jobId: string;
  readonly userId: string;
  readonly assetType: string;
  /** `s3://bucket/key`. */
  readonly url: string;
  /** The key in the bucket. */
  readonly storagePath: string;
  /** Bytes. */
  readonly fileSize: number;
}

/**
 * Creates an asset of a job while this execution is RUNNING.
 * @throws ExecutionTakenError when the execution is not RUNNING; no asset was created
 */
export async function createAsset(
  db: Database,
  { executionId, asset }: { executionId: string; asset: NewAsset },
): Promise<void> {
  const { numAffectedRows } = await sql`
    WITH ${whileRunning({ executionId, jobId: asset.jobId })}
    INSERT INTO assets (job_id, user_id, asset_type, url, storage_path, file_size)
    SELECT job_id, ${asset.userId}, ${asset.assetType}, ${asset.url}, ${asset.storagePath}, ${asset.fileSize} FROM running`.execute(
    db,
  );
  if (numAffectedRows !== 1n) throw new ExecutionTakenError(executionId);
}
