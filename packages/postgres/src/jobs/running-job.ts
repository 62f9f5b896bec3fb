import { sql } from 'kysely';
import type { Database } from '../database/database.ts';
import { whileRunning } from '../executions/fence.ts';
import { storableText } from '../database/storable.ts';
import { ExecutionTakenError, INTERRUPTED } from '@pasteflow/domain';

export interface JobProgress {
  readonly executionId: string;
  readonly jobId: string;
  /** Rounded down to a whole number from 0 to 100: 99.9 is not complete. */
  readonly percent: number;
  /** null: keeps the current message. */
  readonly message: string | null;
}

/**
 * Writes the progress of a job while the job is processing and this execution is RUNNING. Progress never
 * decreases: an attempt that starts over keeps the progress reached before. No index contains these columns,
 * so that the update is HOT.
 * @returns false when the update was ignored
 */
export async function writeProgress(
  db: Database,
  { executionId, jobId, percent, message }: JobProgress,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    WITH ${whileRunning({ executionId, jobId })}
    UPDATE jobs j
    SET progress = greatest(j.progress, ${wholePercent(percent)}::integer), updated_at = now(),
      progress_message = coalesce(${message === null ? null : storableText(message)}, j.progress_message)
    FROM running WHERE j.id = running.job_id AND j.status = 'processing'`.execute(db);
  return numAffectedRows === 1n;
}

function wholePercent(percent: number): number {
  return Number.isNaN(percent) ? 0 : Math.floor(Math.min(100, Math.max(0, percent)));
}

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
