import {
  INTERRUPTED,
  taskExecution,
  transition,
  YIELDED,
  type AttemptOutcome,
  type NextStep,
} from '@pasteflow/domain';
import { sql, type RawBuilder } from 'kysely';
import { byActor, type Actor } from '../database/actor.ts';
import type { Database } from '../database/database.ts';
import { lockLimit } from '../database/locks.ts';
import { prepared } from '../database/prepared.ts';
import { storableText } from '../database/storable.ts';
import type { ExecutionKind } from '../schema/executions.ts';
import { opaqueState } from '../database/planner.ts';

const succeed = transition(taskExecution, 'RUNNING', 'SUCCEEDED');
const fail = transition(taskExecution, 'RUNNING', 'FAILED');

/** How one execution ended, and the next step that the retry policy has decided. */
export interface Settlement {
  readonly executionId: string;
  readonly outcome: AttemptOutcome;
  readonly nextStep: NextStep;
}

/** A settlement that took effect. */
export interface Settled<State extends string = string> {
  readonly executionId: string;
  /** The id of the paste or the job. */
  readonly subjectId: string;
  /** The next execution and when it is due; null when no attempt follows. */
  readonly successorId: string | null;
  readonly runAt: Date | null;
  /** The state in which the settlement leaves the upload or the job. */
  readonly status: State;
}

/** What a settlement needs to know about uploads or jobs. */
export interface SettleableSubject<Ending extends Settlement, State extends string> {
  readonly kind: ExecutionKind;
  /** The state of a subject with an open execution that runs or has run. */
  readonly openState: State;
  /** Columns of a successor that only this kind of work has, from the CTE `ended`. */
  readonly successorColumns: Readonly<Record<string, RawBuilder<unknown>>>;
  /**
   * Its own columns of the CTE `ending`, all text, with a value for each settlement.
   * @throws TypeError for an impossible settlement
   */
  endingColumns(settlements: readonly Ending[]): Readonly<Record<string, readonly (string | null)[]>>;
  /**
   * CTEs that end the subject where no attempt follows, each after a comma. They read the CTE `ended` (id,
   * subject_id, next_attempt, give_up_reason, and the ending columns). One is called `settled` and returns
   * `id` and `status` of each subject it has changed.
   */
  readonly onEnd: RawBuilder<unknown>;
}

/**
 * Ends a batch of executions in one statement: the execution becomes SUCCEEDED or FAILED; then its successor
 * is inserted as PENDING, or the upload or the job reaches its end.
 *
 * The execution id is the fencing token: only a RUNNING execution can be ended, and only once, because
 * `fenced` has locked it. An execution that is missing from the result was ended by another process, and
 * nothing was changed for it. The successor is inserted from the rows that were really ended, so that the
 * unique index on open executions sees the predecessor closed.
 *
 * Every row is looked up by its id: the arrays of ids keep Postgres from planning joins that read whole
 * tables.
 *
 * The wait after a loss begins when the lease expired, so that the work of a crashed worker runs elsewhere
 * within 10 s.
 * @returns the settlements that took effect, by execution id
 */
export async function settleExecutions<Ending extends Settlement, State extends string>(
  db: Database,
  subject: SettleableSubject<Ending, State>,
  settlements: readonly Ending[],
  {
    actor,
    onlyPastLease = false,
    maxLockWaitMs,
    dispatched,
  }: {
    readonly actor: Actor;
    /**
     * Settle only executions past their lease, and leave out those that another session has locked. For
     * settlements on behalf of a crashed worker.
     */
    readonly onlyPastLease?: boolean;
    /**
     * How long the statement waits for one locked row, in ms. Afterwards it fails (`isTimeout`). Default: until
     * its timeout.
     */
    readonly maxLockWaitMs?: number | undefined;
    /**
     * Successors count as dispatched, because the caller returns their message to the queue. Otherwise the
     * relay sends one.
     */
    readonly dispatched: boolean;
  },
): Promise<ReadonlyMap<string, Settled<State>>> {
  if (settlements.length === 0) return new Map();
  const own = Object.entries(subject.endingColumns(settlements));
  const further = furtherColumns(subject.successorColumns);
  const { rows } = await sql<Settled<State>>`${prepared}
    WITH ${byActor(actor)},
    ${lockLimit(maxLockWaitMs)}, ending AS MATERIALIZED (
      SELECT t.* FROM unnest(
        ${settlements.map((s) => s.executionId)}::uuid[],
        ${settlements.map((s) => errorOf(s.outcome))}::text[],
        ${settlements.map((s) => (s.outcome.kind === 'lost' ? 1 : 0))}::integer[],
        ${settlements.map(({ nextStep }) => (nextStep.kind === 'retry' ? nextStep.attempt : null))}::integer[],
        ${settlements.map(({ nextStep }) => (nextStep.kind === 'retry' ? nextStep.delayMs : null))}::float8[],
        ${settlements.map(({ nextStep }) => (nextStep.kind === 'give_up' ? storableText(nextStep.reason) : null))}::text[],
        ${sql.join(own.map(([, values]) => sql`${values}::text[]`))}
      ) AS t (execution_id, error, loss, next_attempt, delay_ms, give_up_reason, ${sql.join(own.map(([name]) => sql.id(name)))}), actor, lock_limit
    ), fenced AS MATERIALIZED (
      SELECT e.id, e.lease_expires_at FROM task_executions e
      WHERE e.id = ANY (ARRAY(SELECT execution_id FROM ending)) AND e.kind = ${sql.lit(subject.kind)} AND ${opaqueState('e')} = ${fail.from}
        AND (NOT ${onlyPastLease} OR e.lease_expires_at < now())
      ORDER BY e.id FOR UPDATE ${onlyPastLease ? sql`SKIP LOCKED` : sql``}
    ), ended AS (
      UPDATE task_executions e
      SET status = CASE WHEN ending.error IS NULL THEN ${succeed.to} ELSE ${fail.to} END,
        error = ending.error, finished_at = now(), lease_expires_at = NULL
      FROM fenced JOIN ending ON ending.execution_id = fenced.id
      WHERE e.id = fenced.id AND e.id = ANY (ARRAY(SELECT id FROM fenced))
      RETURNING e.id, e.subject_id, e.user_id, e.losses, least(fenced.lease_expires_at, now()) AS lost_at, ending.*
    ), successor AS (
      INSERT INTO task_executions (kind, subject_id, user_id, attempt, losses, run_at, dispatched_at${further.names})
      SELECT ${sql.lit(subject.kind)}, subject_id, user_id, next_attempt, losses + loss, CASE WHEN loss > 0 THEN lost_at ELSE now() END + make_interval(secs => delay_ms / 1000),
        CASE WHEN ${dispatched} THEN now() END${further.values}
      FROM ended WHERE next_attempt IS NOT NULL
      RETURNING id, subject_id, run_at
    )${subject.onEnd}
    SELECT ended.id AS "executionId", ended.subject_id AS "subjectId", successor.id AS "successorId", successor.run_at AS "runAt",
      coalesce(settled.status, ${subject.openState}) AS status
    FROM ended LEFT JOIN successor ON successor.subject_id = ended.subject_id
      LEFT JOIN settled ON settled.id = ended.subject_id`.execute(db);
  return new Map(rows.map((row) => [row.executionId, row]));
}

/** Columns of an INSERT and their values, each after a comma. */
export function furtherColumns(columns: Readonly<Record<string, RawBuilder<unknown>>>): {
  readonly names: RawBuilder<unknown>;
  readonly values: RawBuilder<unknown>;
} {
  return {
    names: sql.join(
      Object.keys(columns).map((name) => sql`, ${sql.id(name)}`),
      sql``,
    ),
    values: sql.join(
      Object.values(columns).map((value) => sql`, ${value}`),
      sql``,
    ),
  };
}

function errorOf(outcome: AttemptOutcome): string | null {
  switch (outcome.kind) {
    case 'succeeded':
      return null;
    case 'interrupted':
      return INTERRUPTED;
    case 'yielded':
      return YIELDED;
    case 'failed':
    case 'lost':
    case 'postponed':
      return storableText(outcome.error);
    default:
      return outcome satisfies never;
  }
}
