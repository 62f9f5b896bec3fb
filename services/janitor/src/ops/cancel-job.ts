import { type Answer, EXIT_FAILED, asJson, failed, succeeded } from '@pasteflow/service-kit';
import { cancelJob, findJob, type Database } from '@pasteflow/postgres';
import { operator } from './operator.ts';

export interface CancelOptions {
  readonly jobId: string;
  /** For the owner of the job; null: none was given. */
  readonly reason: string | null;
  readonly json: boolean;
}

/** Ends a job that waits or runs (ADR 43). */
export async function runCancelJob(db: Database, { jobId, reason, json }: CancelOptions): Promise<Answer> {
  const by = reason === null ? 'an operator' : `an operator: ${reason}`;
  const from = await cancelJob(db, { jobId, actor: operator(), by });
  const job = await findJob(db, jobId);
  if (job === null) return failed(EXIT_FAILED, `ops: there is no job ${jobId}\n`);
  const { status } = job;
  if (from === null)
    return failed(
      EXIT_FAILED,
      `ops: job ${jobId} is ${status} and has no open execution, so there is nothing to cancel\n`,
    );
  const text = `Cancelled job ${jobId}, which was ${from} and is now ${status}.\n`;
  return succeeded(json ? asJson({ job_id: jobId, from, status }) : text);
}
