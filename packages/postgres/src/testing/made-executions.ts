import type { OpenStateOf, taskExecution } from '@pasteflow/domain';
import { sql } from 'kysely';
import type { ExecutionKind } from '../schema/executions.ts';

/** What a test may choose for an open execution of each status. */
interface ShapeOfStatus {
  PENDING: {
    readonly attempt?: number;
    readonly losses?: number;
    /** Negative: due later. */
    readonly dueSecondsAgo?: number;
    /** null: no message was ever sent. */
    readonly dispatchedSecondsAgo?: number | null;
  };
  RUNNING: {
    readonly attempt?: number;
    readonly losses?: number;
    readonly workerId?: string;
    /** How long the lease still holds; negative: a zombie. */
    readonly leaseSeconds?: number;
  };
}

type OpenStatus = OpenStateOf<typeof taskExecution>;

/** An open execution. */
export type ExecutionShape = {
  [Status in OpenStatus]: { readonly status: Status } & ShapeOfStatus[Status];
}[OpenStatus];

/** The columns of an execution that a statement inserts. */
export interface ExecutionColumns {
  readonly status: string;
  readonly attempt: number;
  readonly losses: number;
  readonly dueSecondsAgo: number;
  readonly dispatchedSecondsAgo: number | null;
  readonly workerId: string | null;
  readonly startedSecondsAgo: number | null;
  readonly leaseSeconds: number | null;
  readonly finishedSecondsAgo: number | null;
  readonly error: string | null;
}

const idle = {
  workerId: null,
  startedSecondsAgo: null,
  leaseSeconds: null,
  finishedSecondsAgo: null,
  error: null,
};

/** @param age of the work in seconds: how long it has been due, dispatched and started */
export function openExecution(execution: ExecutionShape, age: number): ExecutionColumns {
  const { status, attempt = 1, losses = 0 } = execution;
  if (status === 'PENDING') {
    const { dueSecondsAgo = age, dispatchedSecondsAgo = null } = execution;
    return { ...idle, status, attempt, losses, dueSecondsAgo, dispatchedSecondsAgo };
  }
  const { workerId = 'upload-worker/made', leaseSeconds = 6 } = execution;
  const since = { dueSecondsAgo: age, dispatchedSecondsAgo: age, startedSecondsAgo: age };
  return { ...idle, ...since, status, attempt, losses, workerId, leaseSeconds };
}

/** @param attempt the last attempt at the work; @param error null: the attempt succeeded */
export function endedExecution(
  { attempt, error }: { attempt: number; error: string | null },
  { age, finishedSecondsAgo = age }: { age: number; finishedSecondsAgo?: number },
): ExecutionColumns {
  return {
    status: error === null ? 'SUCCEEDED' : 'FAILED',
    attempt,
    losses: 0,
    dueSecondsAgo: age,
    dispatchedSecondsAgo: age,
    workerId: 'upload-worker/made',
    startedSecondsAgo: age,
    leaseSeconds: null,
    finishedSecondsAgo,
    error,
  };
}

/** The CTE `execution`: an execution for each row of the CTE `subject`, which has the ids and the `further` columns. */
export function insertExecutions(
  kind: ExecutionKind,
  subject: string,
  execution: ExecutionColumns,
  age: number,
  further: readonly string[] = [],
) {
  const own = sql.join(
    further.map((name) => sql`, ${sql.id(name)}`),
    sql``,
  );
  return sql`
    execution AS (
      INSERT INTO task_executions (kind, subject_id, attempt, losses, status, run_at, dispatched_at, created_at, worker_id, started_at,
        lease_expires_at, finished_at, error${own})
      SELECT ${kind}, id, ${execution.attempt}, ${execution.losses}, ${execution.status}, ${ago(execution.dueSecondsAgo)},
        ${ago(execution.dispatchedSecondsAgo)}, ${ago(age)}, ${execution.workerId}, ${ago(execution.startedSecondsAgo)},
        ${ago(execution.leaseSeconds === null ? null : -execution.leaseSeconds)}, ${ago(execution.finishedSecondsAgo)}, ${execution.error}${own}
      FROM ${sql.id(subject)} RETURNING id, subject_id
    )`;
}

/** A time before now, by the clock of the database; NULL for null. */
export function ago(seconds: number | null) {
  return sql`now() - make_interval(secs => ${seconds}::float8)`;
}
