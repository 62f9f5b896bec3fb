import { sql } from 'kysely';
import {
  INTERRUPTED,
  job,
  taskExecution,
  transition,
  type AttemptOutcome,
  type NextStep,
  type JobState,
} from '@pasteflow/domain';
import { byActor } from '../database/actor.ts';
import type { Database } from '../database/database.ts';
import { opaqueState } from './opaque-state.ts';
import type { SettleOptions } from './settle-uploads.ts';
import { storableJson, storableText } from '../database/storable.ts';

const succeed = transition(taskExecution, 'RUNNING', 'SUCCEEDED');
const fail = transition(taskExecution, 'RUNNING', 'FAILED');
const complete = transition(job, 'processing', 'completed');
const endInPart = transition(job, 'processing', 'partial');
const giveUp = transition(job, 'processing', 'failed');

/** How a job's work came to an end by itself. */
export interface JobSettlementEnding {
  readonly status: 'completed' | 'partial' | 'failed';
  readonly result: object;
  readonly errorMessage: string | null;
}

/** How one execution ended and what follows: its work's own ending, or the next attempt, or the end of all attempts. */
export interface JobSettlement {
  readonly executionId: string;
  readonly outcome: AttemptOutcome;
  readonly nextStep: NextStep;
  /** null: the work didn't come to an end by itself. Never null when the next step is `done`, always when it is `retry`. */
  readonly ending: JobSettlementEnding | null;
}

/** A settlement that counted. */
export interface SettledJob {
  readonly executionId: string;
  readonly jobId: string;
  /** The successor and when it is due, where there is one. */
  readonly successorId: string | null;
  readonly runAt: Date | null;
  /** Of the job, now. */
  readonly status: JobState;
}

/**
 * Ends a batch of executions in one statement: execution SUCCEEDED or FAILED; then the successor PENDING, or the job at its end. Fenced by the
 * execution's id as `settleUploads`: only a RUNNING one can be ended, once, and whatever is not in the result lost.
 *
 * `failed` is for jobs that made nothing (J6): a job with assets, whichever attempt made them, is `partial` instead, and its result says
 * what was made. `made_by_job` looks with a snapshot of its own, taken once the execution is locked: an asset that was being made while this
 * waited for the lock is in it. It is asked only where nothing else says that there are assets, and reads those of this job alone.
 */
export async function settleJobs(
  db: Database,
  settlements: readonly JobSettlement[],
  { actor, onlyPastLease = false, dispatched }: SettleOptions,
): Promise<ReadonlyMap<string, SettledJob>> {
  if (settlements.length === 0) return new Map();
  for (const settlement of settlements) assertWhole(settlement);
  const { rows } = await sql<SettledJob>`
    WITH ${byActor(actor)},
    ending AS MATERIALIZED (
      SELECT * FROM unnest(
        ${settlements.map((s) => s.executionId)}::uuid[],
        ${settlements.map((s) => errorOf(s.outcome))}::text[],
        ${settlements.map((s) => (s.nextStep.kind === 'retry' ? s.nextStep.attempt : null))}::integer[],
        ${settlements.map((s) => (s.nextStep.kind === 'retry' ? s.nextStep.delayMs : null))}::float8[],
        ${settlements.map((s) => s.ending?.status ?? 'failed')}::text[],
        ${settlements.map((s) => (s.ending === null ? null : storableJson(s.ending.result)))}::text[],
        ${settlements.map(errorMessageOf)}::text[]
      ) AS t (id, error, next_attempt, delay_ms, status, result, error_message), actor
    ), fenced AS MATERIALIZED (
      SELECT e.id FROM task_executions e
      WHERE e.id IN (SELECT id FROM ending) AND e.kind = 'job' AND ${opaqueState('e')} = ${fail.from}
        AND (NOT ${onlyPastLease} OR e.lease_expires_at < now())
      ORDER BY e.id FOR UPDATE
    ), ended AS (
      UPDATE task_executions e
      SET status = CASE WHEN ending.error IS NULL THEN ${succeed.to} ELSE ${fail.to} END,
        error = ending.error, finished_at = now(), lease_expires_at = NULL
      FROM fenced JOIN ending USING (id)
      WHERE e.id = fenced.id AND ${opaqueState('e')} = ${fail.from}
      RETURNING e.id, e.kind, e.subject_id, ending.next_attempt, ending.delay_ms, ending.status AS job_status, ending.result,
        ending.error_message
    ), successor AS (
      INSERT INTO task_executions (kind, subject_id, attempt, run_at, dispatched_at)
      SELECT kind, subject_id, next_attempt, now() + make_interval(secs => delay_ms / 1000),
        CASE WHEN ${dispatched} THEN now() END
      FROM ended WHERE next_attempt IS NOT NULL
      RETURNING id, subject_id, run_at
    ), closing AS MATERIALIZED (
      SELECT subject_id, job_status, result::jsonb, error_message, CASE WHEN job_status = ${giveUp.to} THEN made_by_job(subject_id) END AS made
      FROM ended WHERE next_attempt IS NULL
    ), settled AS (
      UPDATE jobs j
      SET status = CASE WHEN closing.made IS NULL THEN closing.job_status ELSE ${endInPart.to} END,
        progress = CASE WHEN closing.job_status = ${giveUp.to} AND closing.made IS NULL THEN j.progress ELSE 100 END,
        result = CASE WHEN closing.made IS NULL THEN closing.result ELSE closing.made || coalesce(closing.result, '{}') END,
        error_message = closing.error_message, updated_at = now(), completed_at = now()
      FROM closing
      WHERE j.id = closing.subject_id AND j.status = ${complete.from}
      RETURNING j.id, j.status
    )
    SELECT ended.id AS "executionId", ended.subject_id AS "jobId", successor.id AS "successorId", successor.run_at AS "runAt",
      coalesce(settled.status, ${complete.from}) AS status
    FROM ended LEFT JOIN successor ON successor.subject_id = ended.subject_id
      LEFT JOIN settled ON settled.id = ended.subject_id`.execute(db);
  return new Map(rows.map((row) => [row.executionId, row]));
}

/** What would leave a job processing without an open execution, or at its end with one. */
function assertWhole({ nextStep, ending }: JobSettlement): void {
  const isWhole = nextStep.kind === 'give_up' || (ending === null) === (nextStep.kind === 'retry');
  if (!isWhole)
    throw new TypeError(`a job's settlement with the next step ${nextStep.kind} has a wrong ending`);
}

function errorMessageOf({ nextStep, ending }: JobSettlement): string | null {
  const message = ending?.errorMessage ?? (nextStep.kind === 'give_up' ? nextStep.reason : null);
  return message === null ? null : storableText(message);
}

function errorOf(outcome: AttemptOutcome): string | null {
  switch (outcome.kind) {
    case 'succeeded':
      return null;
    case 'interrupted':
      return INTERRUPTED;
    case 'failed':
    case 'lost':
    case 'postponed':
      return storableText(outcome.error);
    default:
      return outcome satisfies never;
  }
}
