import { sql, type RawBuilder } from 'kysely';
import { opaqueState } from './opaque-state.ts';

/**
 * A CTE with the job and its owner, while this execution of it is RUNNING; else without a row. Whatever is written for a job reads from it,
 * and so is written before the execution ends or not at all.
 *
 * FOR SHARE keeps the end waiting until the statement has committed. FOR KEY SHARE would not do: against an UPDATE by hand that one is given
 * on the row as the statement's snapshot has it, without a second look at a state that has changed since.
 */
export function whileRunning({
  executionId,
  jobId,
}: {
  executionId: string;
  jobId: string;
}): RawBuilder<unknown> {
  return sql`running AS MATERIALIZED (
    SELECT j.id AS job_id, j.user_id FROM task_executions e JOIN jobs j ON j.id = e.subject_id
    WHERE e.id = ${executionId} AND e.subject_id = ${jobId} AND e.kind = 'job' AND ${opaqueState('e')} = 'RUNNING'
    FOR SHARE OF e)`;
}
