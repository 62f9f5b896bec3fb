import { sql, type RawBuilder } from 'kysely';
import { opaqueState } from '../database/planner.ts';

/**
 * A CTE with the job and its owner while this execution of the job is RUNNING and the owner is not erased;
 * without a row otherwise. Each statement that writes for a job reads from this CTE, so it either commits
 * before the execution ends, or writes nothing.
 *
 * FOR SHARE makes the settlement wait until the statement has committed. FOR KEY SHARE is too weak: an UPDATE
 * by hand doesn't conflict with it, so the lock would be granted on the row of the statement's snapshot,
 * without a check of a state that has changed since.
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
      AND user_stands(j.user_id)
    FOR SHARE OF e)`;
}
