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
  /** See JobContext. */
  readonly archive?: { readonly number: number; readonly checkpoint: object } | undefined;
}

/**
 * Creates an asset of a job while this execution is RUNNING. An archive commits with its checkpoint, so that
 * its content and the place where the next one begins can't differ.
 * @throws ExecutionTakenError when the execution is not RUNNING, or the archive is not the next one of the job;
 * no asset was created
 */
export async function createAsset(
  db: Database,
  { executionId, asset }: { executionId: string; asset: NewAsset },
): Promise<void> {
  const { number = null, checkpoint = null } = asset.archive ?? {};
  const isNext = sql`${number}::integer = 1 + (SELECT count(*) FROM assets a WHERE a.job_id = running.job_id AND a.number IS NOT NULL)`;
  const { numAffectedRows } = await sql`
    WITH ${whileRunning({ executionId, jobId: asset.jobId })}
    INSERT INTO assets (job_id, user_id, asset_type, url, storage_path, file_size, number, checkpoint)
    SELECT job_id, ${asset.userId}, ${asset.assetType}, ${asset.url}, ${asset.storagePath}, ${asset.fileSize}, ${number}::integer,
      ${checkpoint && JSON.stringify(checkpoint)}::jsonb
    FROM running WHERE ${number}::integer IS NULL OR ${isNext}`.execute(db);
  if (numAffectedRows !== 1n) throw new ExecutionTakenError(executionId);
}
