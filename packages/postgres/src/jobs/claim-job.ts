import { sql } from 'kysely';
import { byActor, type Actor } from '../database/actor.ts';
import type { Database } from '../database/database.ts';
import { prepared } from '../database/prepared.ts';
import { claimDue, claimTransition, tryAgainAt, type Claim } from '../executions/claim.ts';
import { opaqueState } from '../database/planner.ts';
import { pausedKinds } from '../executions/work-kinds.ts';
import { jobSubject, type ClaimedJob } from './job-subject.ts';

/** A job runs alone in any case, so it is claimed although it is a suspect. */
export type JobClaim = Exclude<Claim<ClaimedJob>, { kind: 'suspect' }>;

interface ClaimRow extends Omit<ClaimedJob, 'executionId'> {
  readonly executionId: string | null;
  readonly paused: boolean;
  /** null: the message is not needed any more. */
  readonly waitMs: number | null;
}

/**
 * Claims the due job whose turn it is (PENDING → RUNNING), in one statement. A message of a job says that a
 * job is due, not which: the claimed job may be another than the named one. Turns let the users' jobs follow
 * each other in rotation, however many jobs one user has.
 *
 * `next` is the due job with the lowest turn among those that have a message. Locked jobs are skipped, so
 * concurrent claims get different jobs. Without such a job, `unstamped` is the named job, or else the due job
 * with the lowest turn whose message the api has not stamped yet. That claim waits for the stamp's lock: the
 * message of a job can be here a millisecond before its stamp.
 *
 * Jobs of paused types are passed over. `paused` says that one is due, and nothing else: the message is kept for it.
 *
 * Every job that waits with a stamp has one message. A claim uses up one message for one job, whichever
 * message names which job, so the number of messages stays equal to the number of waiting jobs. A message
 * whose job has ended is therefore kept while a stamped job is not due yet: it may be the message of that
 * job.
 */
export async function claimJob(
  db: Database,
  {
    jobId,
    actor,
    leaseSeconds,
  }: {
    /** The job that the received message names. */
    readonly jobId: string;
    readonly actor: Actor;
    readonly leaseSeconds: number;
  },
): Promise<JobClaim> {
  const { rows } = await sql<ClaimRow>`${prepared}
    WITH ${byActor(actor, 'claimed')},
    asked AS MATERIALIZED (
      SELECT e.id AS execution_id, e.status, e.run_at, e.lease_expires_at, ARRAY(${pausedKinds}) AS kinds
      FROM actor LEFT JOIN task_executions e
        ON e.subject_id = ${jobId}::uuid AND e.kind = 'job' AND ${opaqueState('e')} IN ('PENDING', 'RUNNING')
    ), next AS MATERIALIZED (
      SELECT next_job(stamped => true, paused => asked.kinds) AS id FROM asked
    ), unstamped AS MATERIALIZED (
      SELECT coalesce(
        CASE WHEN asked.status = ${claimTransition.from} AND asked.run_at <= now()
          AND NOT EXISTS (SELECT FROM jobs j WHERE j.id = ${jobId}::uuid AND j.job_type = ANY (asked.kinds)) THEN asked.execution_id END,
        next_job(stamped => false, paused => asked.kinds)) AS id
      FROM asked, next WHERE next.id IS NULL
    ), due AS MATERIALIZED (
      SELECT e.id FROM task_executions e
      WHERE e.id = coalesce((SELECT id FROM next), (SELECT id FROM unstamped))
        AND ${opaqueState('e')} = ${claimTransition.from} AND e.run_at <= now()
      FOR UPDATE
    ), ${claimDue({ actor, leaseSeconds })}${jobSubject.onClaim}
    SELECT claimed.id AS "executionId", claimed.attempt, claimed.losses, j.id AS "jobId", j.user_id AS "userId", j.job_type AS "jobType", j.parameters || coalesce(j.payload, '{}') AS parameters, j.expiry_rules AS "expiryRules",
      CASE WHEN claimed.id IS NULL THEN (extract(epoch FROM coalesce(${tryAgainAt(leaseSeconds)},
        (SELECT greatest(at, now() + interval '1 second') FROM next_job_due_at() AS at WHERE at IS NOT NULL)) - now()) * 1000)::float8
        END AS "waitMs",
      claimed.id IS NULL AND cardinality(asked.kinds) > 0 AND coalesce(asked.status = ${claimTransition.from}, true)
        AND coalesce(asked.run_at, next_job_due_at()) <= now() IS TRUE AS paused
    FROM asked LEFT JOIN claimed ON true
      LEFT JOIN LATERAL (SELECT * FROM jobs WHERE id = claimed.subject_id LIMIT 1) AS j ON true`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error('claimJob: the statement returned no row');
  return toClaim(row);
}

function toClaim({ waitMs, paused, executionId, ...job }: ClaimRow): JobClaim {
  if (executionId !== null) return { kind: 'claimed', execution: { ...job, executionId } };
  if (paused) return { kind: 'paused' };
  return waitMs === null ? { kind: 'ended' } : { kind: 'not_now', waitMs: Math.max(0, Math.ceil(waitMs)) };
}
