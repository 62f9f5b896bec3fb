import { job, taskExecution, transition } from '@pasteflow/domain';
import { sql } from 'kysely';
import { byActor, type Actor } from '../database/actor.ts';
import type { Database } from '../database/database.ts';
import { opaqueState } from './opaque-state.ts';

const claim = transition(taskExecution, 'PENDING', 'RUNNING');
const start = transition(job, 'queued', 'processing');

export interface ClaimedJob {
  readonly executionId: string;
  readonly jobId: string;
  readonly userId: string;
  readonly jobType: string;
  readonly attempt: number;
  readonly parameters: unknown;
}

/** What a message turned out to stand for; as for uploads. */
export type JobClaim =
  | { readonly kind: 'claimed'; readonly job: ClaimedJob }
  /** Not to be done now: not due yet, or running elsewhere. Look again after `waitMs`. */
  | { readonly kind: 'not_now'; readonly waitMs: number }
  /** Nothing is open any more: the job has come to its end. */
  | { readonly kind: 'ended' };

interface ClaimRow {
  jobId: string;
  executionId: string | null;
  userId: string;
  jobType: string;
  attempt: number;
  parameters: unknown;
  open: boolean;
  waitMs: number | null;
}

/**
 * Claims what is due of a batch of jobs (execution PENDING → RUNNING; at a job's first claim also queued → processing) in one statement, by
 * the same rules as `claimUploads`. A job that isn't in the answer has been removed.
 *
 * Everything that writes for a job locks its execution first, executions in id order, and the job after: whoever has the open
 * execution is alone with its job, so that the jobs need no order.
 */
export async function claimJobs(
  db: Database,
  { jobIds, actor, leaseSeconds }: { jobIds: readonly string[]; actor: Actor; leaseSeconds: number },
): Promise<ReadonlyMap<string, JobClaim>> {
  const { rows } = await sql<ClaimRow>`
    WITH ${byActor(actor, 'claimed')},
    asked AS MATERIALIZED (
      SELECT j.id, j.user_id, j.job_type, j.parameters, e.id AS execution_id, e.status, e.run_at, e.lease_expires_at
      FROM actor, jobs j LEFT JOIN task_executions e
        ON e.subject_id = j.id AND e.kind = 'job' AND ${opaqueState('e')} IN ('PENDING', 'RUNNING')
      WHERE j.id = ANY (${jobIds}::uuid[])
    ), due AS MATERIALIZED (
      SELECT e.id FROM task_executions e
      WHERE e.id IN (SELECT execution_id FROM asked) AND ${opaqueState('e')} = ${claim.from} AND e.run_at <= now()
      ORDER BY e.id FOR UPDATE
    ), claimed AS (
      UPDATE task_executions e
      SET status = ${claim.to}, worker_id = ${actor}, started_at = now(), dispatched_at = coalesce(e.dispatched_at, now()),
        lease_expires_at = now() + make_interval(secs => ${leaseSeconds})
      FROM due WHERE e.id = due.id AND ${opaqueState('e')} = ${claim.from}
      RETURNING e.id, e.subject_id, e.attempt
    ), started AS (
      UPDATE jobs j SET status = ${start.to}, updated_at = now()
      FROM claimed WHERE j.id = claimed.subject_id AND j.status = ${start.from}
    )
    SELECT asked.id AS "jobId", claimed.id AS "executionId", asked.user_id AS "userId", asked.job_type AS "jobType", claimed.attempt,
      CASE WHEN claimed.id IS NOT NULL THEN asked.parameters END AS parameters, asked.status IS NOT NULL AS open,
      (extract(epoch FROM CASE
        WHEN asked.status = 'RUNNING' THEN greatest(asked.lease_expires_at, now() + interval '1 second')
        WHEN asked.run_at > now() THEN asked.run_at
        ELSE now() + make_interval(secs => ${leaseSeconds}) END - now()) * 1000)::float8 AS "waitMs"
    FROM asked LEFT JOIN claimed ON claimed.subject_id = asked.id`.execute(db);
  return new Map(rows.map((row) => [row.jobId, toClaim(row)]));
}

function toClaim(row: ClaimRow): JobClaim {
  const { jobId, executionId, userId, jobType, attempt, parameters } = row;
  if (executionId !== null) {
    return { kind: 'claimed', job: { executionId, jobId, userId, jobType, attempt, parameters } };
  }
  return row.open ? { kind: 'not_now', waitMs: Math.max(0, Math.ceil(row.waitMs ?? 0)) } : { kind: 'ended' };
}
