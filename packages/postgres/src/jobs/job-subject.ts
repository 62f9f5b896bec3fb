import {
  job,
  openStatesOf,
  transition,
  YIELDED,
  type House,
  type JobState,
  type OpenStateOf,
} from '@pasteflow/domain';
import { sql, type RawBuilder } from 'kysely';
import { anyOf, opaqueState } from '../database/planner.ts';
import { storableJson, storableText } from '../database/storable.ts';
import type { ClaimedExecution } from '../executions/claim.ts';
import type { Settlement } from '../executions/settle.ts';
import type { ExecutionSubject } from '../executions/subject.ts';

const start = transition(job, 'queued', 'processing');
const complete = transition(job, 'processing', 'completed');
const endInPart = transition(job, 'processing', 'partial');
const giveUp = transition(job, 'processing', 'failed');

export interface JobName {
  readonly jobId: string;
  readonly jobType: string;
}

export interface ClaimedJob extends ClaimedExecution, JobName {
  readonly userId: string;
  /** With the payload. */
  readonly parameters: unknown;
  /** Of an import, see `NewJob`. */
  readonly expiryRules: House['expiry'] | null;
}

/** The end that the work of a job has reported. */
export interface JobSettlementEnding {
  readonly status: 'completed' | 'partial' | 'failed';
  readonly result: object;
  readonly errorMessage: string | null;
}

export interface JobSettlement extends Settlement {
  /**
   * null: the work has not reported an end. Never null when the next step is `done`, always null when it is
   * `retry`, and either when it is `give_up`.
   */
  readonly ending: JobSettlementEnding | null;
}

/** A PENDING execution that needs a message. */
export interface UnsentJob {
  readonly executionId: string;
  readonly jobId: string;
}

/**
 * Jobs, as the statements on executions see them. The first claim of a job also moves it from `queued` to
 * `processing`.
 *
 * Each statement that writes for a job locks its execution first, executions in id order, and the job
 * afterwards. The holder of the open execution is the only writer of its job, so the jobs need no lock order
 * of their own.
 *
 * `failed` is for jobs that made nothing. A job with assets, from any of its attempts, is `partial` instead,
 * and its result says what was made. `made_by_job` reads with a snapshot of its own, which it takes after the
 * execution is locked: it sees an asset whose statement this settlement has waited for. It is called only
 * where nothing else shows that there are assets, and reads the assets of this job alone.
 */
export const jobSubject: ExecutionSubject<JobName, ClaimedJob, JobSettlement, JobState, UnsentJob> = {
  kind: 'job',
  workKind: sql`s.job_type`,
  selectByKeys: (jobIds) => sql`
    SELECT id, id AS key, user_id, job_type, parameters || coalesce(payload, '{}') AS parameters, expiry_rules FROM jobs WHERE id = ${anyOf(jobIds, 'uuid')}`,
  claimedColumns: sql`
    asked.id AS "jobId", asked.user_id AS "userId", asked.job_type AS "jobType",
    CASE WHEN claimed.id IS NOT NULL THEN asked.parameters END AS parameters, asked.expiry_rules AS "expiryRules"`,
  onClaim: sql`, started AS (
      UPDATE jobs j SET status = ${start.to}, updated_at = now()
      WHERE j.id = ANY (ARRAY(SELECT subject_id FROM claimed)) AND ${opaqueState('j')} = ${start.from}
    )`,
  openState: start.to,
  // An import yields at each hundred of its entries: before all others again, it would let nobody have a turn.
  successorColumns: {
    turn: sql`CASE WHEN error = ${sql.lit(YIELDED)} THEN take_job_turn(user_id, NULL) END`,
  },
  openStates: openStatesOf(job),
  selectOldestOpen: (limit) =>
    sql.join(
      openStatesOf(job).map((state) => oldestIn(state, limit)),
      sql` UNION ALL `,
    ),
  executionColumns: { user_id: sql`subject.user_id` },
  endingColumns: (settlements) => {
    for (const settlement of settlements) assertWhole(settlement);
    return {
      job_status: settlements.map(({ ending }) => ending?.status ?? giveUp.to),
      result: settlements.map(({ ending }) => (ending === null ? null : storableJson(ending.result))),
      error_message: settlements.map(({ ending }) => storableOrNull(ending?.errorMessage)),
    };
  },
  onEnd: sql`, closing AS MATERIALIZED (
      SELECT subject_id, job_status, result::jsonb, coalesce(error_message, give_up_reason) AS error_message,
        CASE WHEN job_status = ${giveUp.to} THEN made_by_job(subject_id) END AS made
      FROM ended WHERE next_attempt IS NULL
    ), settled AS (
      UPDATE jobs j
      SET status = CASE WHEN closing.made IS NULL THEN closing.job_status ELSE ${endInPart.to} END,
        progress = CASE WHEN closing.job_status = ${giveUp.to} AND closing.made IS NULL THEN j.progress ELSE 100 END,
        result = CASE WHEN closing.made IS NULL THEN closing.result ELSE closing.made || coalesce(closing.result, '{}') END,
        error_message = closing.error_message, payload = NULL, updated_at = now(), completed_at = now()
      FROM closing
      WHERE j.id = closing.subject_id AND j.id = ANY (ARRAY(SELECT subject_id FROM closing)) AND j.status = ${complete.from}
      RETURNING j.id, j.status
    )`,
  table: 'jobs',
  nameColumns: sql`subject.id AS "jobId", subject.job_type AS "jobType"`,
  messageColumns: sql`subject.id AS "jobId"`,
  messageJoin: sql``,
};

/** Reads the index jobs_open from its start. */
function oldestIn(state: OpenStateOf<typeof job>, limit: number): RawBuilder<unknown> {
  return sql`(
    SELECT id FROM jobs WHERE status = ${sql.lit(state)} AND completed_at IS NULL ORDER BY created_at LIMIT ${limit})`;
}

/**
 * Refuses a settlement that would leave a job processing without an open execution, or at its end with one.
 */
function assertWhole({ nextStep, ending }: JobSettlement): void {
  const isWhole = nextStep.kind === 'give_up' || (ending === null) === (nextStep.kind === 'retry');
  if (!isWhole)
    throw new TypeError(`A settlement of a job with the next step ${nextStep.kind} has a wrong ending.`);
}

function storableOrNull(text: string | null | undefined): string | null {
  return text === null || text === undefined ? null : storableText(text);
}
