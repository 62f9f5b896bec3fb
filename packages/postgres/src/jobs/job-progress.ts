import { sql } from 'kysely';
import type { Database } from '../database/database.ts';
import { whileRunning } from '../executions/fence.ts';
import { storableText } from '../database/storable.ts';

export interface JobProgress {
  readonly executionId: string;
  readonly jobId: string;
  /** Brought to a whole number from 0 to 100, downwards: 99.9 isn't done. */
  readonly percent: number;
  /** null: the message that there is stays. */
  readonly message: string | null;
}

/**
 * J4: writes a job's progress while it is processing and this execution of it is RUNNING. Never backwards: an attempt that starts anew
 * stays at what was reached before. No index has these columns, so that the update is a HOT one.
 * @returns false when it was ignored
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
