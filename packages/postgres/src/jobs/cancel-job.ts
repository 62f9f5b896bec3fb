import {
  job,
  openStatesOf,
  storedReason,
  taskExecution,
  transition,
  type OpenStateOf,
} from '@pasteflow/domain';
import { sql } from 'kysely';
import type { Actor } from '../database/actor.ts';
import type { Database } from '../database/database.ts';
import { storableText } from '../database/storable.ts';
import { callerAs, literal, type OwnerFunction } from '../database/objects.ts';

type OpenJobState = OpenStateOf<typeof job>;

export interface Cancellation {
  readonly jobId: string;
  readonly actor: Actor;
  /** Who cancels, for the owner of the job: `its owner`. */
  readonly by: string;
}

/**
 * Ends a job that waits or runs, as `failed`, or as `partial` when it has assets. Its worker loses the
 * execution, and learns of that by its next heartbeat or its next write.
 * @returns the state that the job was in; null when it has no open execution: it has ended, it is stranded,
 * or there is no such job
 */
export async function cancelJob(
  db: Database,
  { jobId, actor, by }: Cancellation,
): Promise<OpenJobState | null> {
  const why = storableText(storedReason('cancelled', `cancelled by ${by}`));
  const { rows } = await sql<{ from: OpenJobState | null }>`
    SELECT cancel_job(${jobId}::uuid, ${actor}, ${why}) AS "from"`.execute(db);
  return rows[0]?.from ?? null;
}

const startExecution = transition(taskExecution, 'PENDING', 'RUNNING');
const endExecution = transition(taskExecution, 'RUNNING', 'FAILED');
const start = transition(job, 'queued', 'processing');
const fail = transition(job, 'processing', 'failed');
const endInPart = transition(job, 'processing', 'partial');

const openStates = openStatesOf(taskExecution).map(literal).join(', ');

/**
 * Cancels a job: ends its open execution and the job, in one transaction. Returns the state that the job had,
 * or NULL when the job has no open execution. The api has no right to end executions, so this is a function
 * of the owner (ADR 43).
 *
 * Whoever locks the open execution first wins, as for every other statement that writes for a job. A claim, a
 * settlement or a write of the job that holds the lock is waited for. The lock finds no row when a settlement
 * has replaced the execution by its successor: the next turn of the loop sees the successor with a snapshot
 * of its own. An execution has no more successors than the retry policy allows, so the loop ends.
 *
 * The tables know no way from a waiting execution or a queued job to the end, so both start first. Nobody
 * else sees them running: all of this is committed together.
 *
 * `made_by_job` runs after the lock, so that it sees each asset whose statement the lock has waited for. The
 * progress stays what it was.
 */
export const cancelJobFunction: OwnerFunction = {
  name: 'cancel_job',
  parameters: 'of_job uuid, by_actor text, why text',
  returns: 'text',
  body: `
    DECLARE
      execution record;
      state_before text;
      made jsonb;
    BEGIN
      PERFORM set_config('pasteflow.actor', ${callerAs('by_actor')}, true), set_config('pasteflow.reason', why, true);
      LOOP
        SELECT e.id, e.status INTO execution FROM task_executions e
          WHERE e.subject_id = of_job AND e.kind = 'job' AND e.status || '' IN (${openStates}) FOR UPDATE;
        EXIT WHEN execution.id IS NOT NULL;
        IF NOT has_open_execution('job', of_job) THEN RETURN NULL; END IF;
      END LOOP;
      SELECT status INTO state_before FROM jobs WHERE id = of_job;
      IF execution.status = ${literal(startExecution.from)} THEN
        UPDATE task_executions SET status = ${literal(startExecution.to)}, worker_id = ${callerAs('by_actor')}, started_at = now(), lease_expires_at = now()
          WHERE id = execution.id;
        UPDATE jobs SET status = ${literal(start.to)}, updated_at = now() WHERE id = of_job AND status = ${literal(start.from)};
      END IF;
      UPDATE task_executions SET status = ${literal(endExecution.to)}, error = why, finished_at = now(), lease_expires_at = NULL
        WHERE id = execution.id;
      made := made_by_job(of_job);
      UPDATE jobs SET status = CASE WHEN made IS NULL THEN ${literal(fail.to)} ELSE ${literal(endInPart.to)} END,
          result = made, error_message = why, payload = NULL, updated_at = now(), completed_at = now()
        WHERE id = of_job AND status = ${literal(fail.from)};
      RETURN CASE WHEN FOUND THEN state_before END;
    END`,
};
