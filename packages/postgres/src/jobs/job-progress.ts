import { sql } from 'kysely';
import type { Database } from '../database/database.ts';
import { whileRunning } from '../executions/fence.ts';
import { storableText } from '../database/storable.ts';

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
