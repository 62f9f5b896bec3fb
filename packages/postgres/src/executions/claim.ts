import { taskExecution, transition, type AttemptCount, type Transition } from '@pasteflow/domain';
import { sql, type RawBuilder } from 'kysely';
import { byActor, type Actor } from '../database/actor.ts';
import type { Database } from '../database/database.ts';
import type { ExecutionKind } from '../schema/executions.ts';
import { lockLimit } from '../database/locks.ts';
import { prepared } from '../database/prepared.ts';
import { opaqueState } from '../database/planner.ts';
import { pausedKinds } from './work-kinds.ts';

export interface ClaimedExecution extends AttemptCount {
  readonly executionId: string;
}

/** The answer to a message: what became of the upload or the job with its key. */
export type Claim<Claimed extends ClaimedExecution> =
  | { readonly kind: 'claimed'; readonly execution: Claimed }
  /** The execution is not due yet, or it runs elsewhere. Try again after `waitMs`. */
  | { readonly kind: 'not_now'; readonly waitMs: number }
  /** The execution is due, and an operator has paused its kind of work. */
  | { readonly kind: 'paused' }
  /** The execution is due and suspect: claim it alone. See `takeSuspects` of claimExecutions. */
  | { readonly kind: 'suspect' }
  /** No execution is open: the upload or the job has reached its end. */
  | { readonly kind: 'ended' };

/** What a claim needs to know about uploads or jobs. */
export interface ClaimableSubject<Claimed extends ClaimedExecution> {
  readonly kind: ExecutionKind;
  /** The name of its kind of work in `work_kinds`, from `s`, a row of `selectByKeys`. */
  readonly workKind: RawBuilder<string>;
  /** A SELECT of the subjects with these keys: `id`, `key`, and the columns that `claimedColumns` uses. */
  selectByKeys(keys: readonly string[]): RawBuilder<unknown>;
  /**
   * The columns of `Claimed` besides those of `ClaimedExecution`, read from the CTEs `asked` and `claimed`.
   */
  readonly claimedColumns: RawBuilder<Omit<Claimed, keyof ClaimedExecution>>;
  /**
   * CTEs that change the subject together with the claim, each after a comma. They read the CTE `claimed`.
   */
  readonly onClaim: RawBuilder<unknown>;
}

/** One loss is an accident. */
const SUSPECT_LOSSES = 2;

type ClaimRow<Claimed> = Omit<Claimed, 'executionId'> & {
  readonly key: string;
  readonly executionId: string | null;
  readonly open: boolean;
  readonly paused: boolean;
  readonly suspect: boolean;
  readonly waitMs: number | null;
};

/**
 * Claims the due executions of a batch of uploads or jobs (PENDING → RUNNING) in one statement.
 *
 * When two workers claim the same row, one gets it. The other waits the millisecond until the first has
 * committed, and finds the row RUNNING. The statement waits for locks instead of skipping locked rows,
 * because the lock may belong to the api, which stamps the execution as dispatched while its message is
 * already here. With SKIP LOCKED, one paste in eight came back a whole lease later.
 *
 * The lock makes Postgres compare the newest version of the row with the condition. Locks are
 * taken in id order, so that two batches can't deadlock.
 * @returns the claim of each key. A key without a claim has no row: the paste or the job was removed.
 */
export async function claimExecutions<Claimed extends ClaimedExecution>(
  db: Database,
  subject: ClaimableSubject<Claimed>,
  {
    keys,
    actor,
    leaseSeconds,
    takeSuspects = true,
    evenPaused = false,
    maxLockWaitMs,
  }: {
    /** Short codes of uploads, ids of jobs. */
    readonly keys: readonly string[];
    readonly actor: Actor;
    readonly leaseSeconds: number;
    /**
     * Also claim suspects: work that was lost at least `SUSPECT_LOSSES` times, and may kill the worker that
     * runs it. A worker claims a suspect alone, so that no other work of the batch is lost with it. Default:
     * true.
     */
    readonly takeSuspects?: boolean;
    /** Also claim work of a paused kind, to end it. Default: false. */
    readonly evenPaused?: boolean;
    /**
     * How long the statement waits for one locked row, in ms. Afterwards it fails (`isTimeout`). Default: until
     * its timeout.
     */
    readonly maxLockWaitMs?: number | undefined;
  },
): Promise<ReadonlyMap<string, Claim<Claimed>>> {
  const { rows } = await sql<ClaimRow<Claimed>>`${prepared}
    WITH ${byActor(actor, 'claimed')}, ${lockLimit(maxLockWaitMs)},
    asked AS MATERIALIZED (
      SELECT s.*, e.id AS execution_id, e.status, e.run_at, e.lease_expires_at, e.losses,
        NOT ${evenPaused} AND ${subject.workKind} IN (${pausedKinds}) AS paused
      FROM actor, lock_limit, (${subject.selectByKeys(keys)}) AS s LEFT JOIN LATERAL (
        SELECT * FROM task_executions e
        WHERE e.subject_id = s.id AND e.kind = ${sql.lit(subject.kind)} AND ${opaqueState('e')} IN ('PENDING', 'RUNNING') LIMIT 1
      ) AS e ON true
    ), due AS MATERIALIZED (
      SELECT e.id FROM task_executions e
      WHERE e.id = ANY (ARRAY(SELECT execution_id FROM asked WHERE NOT paused)) AND ${opaqueState('e')} = ${claimTransition.from} AND e.run_at <= now()
        AND (${takeSuspects} OR e.losses < ${SUSPECT_LOSSES})
      ORDER BY e.id FOR UPDATE
    ), ${claimDue({ actor, leaseSeconds })}${subject.onClaim}
    SELECT asked.key, claimed.id AS "executionId", claimed.attempt, claimed.losses, ${subject.claimedColumns}, asked.status IS NOT NULL AS open,
      coalesce(asked.paused AND asked.status = ${claimTransition.from} AND asked.run_at <= now(), false) AS paused,
      coalesce(NOT ${takeSuspects} AND asked.losses >= ${SUSPECT_LOSSES} AND asked.status = ${claimTransition.from} AND asked.run_at <= now(), false) AS suspect,
      (extract(epoch FROM ${tryAgainAt(leaseSeconds)} - now()) * 1000)::float8 AS "waitMs"
    FROM asked LEFT JOIN claimed ON claimed.subject_id = asked.id`.execute(db);
  return new Map(rows.map((row) => [row.key, toClaim<Claimed>(row)]));
}

function toClaim<Claimed extends ClaimedExecution>({
  key: _,
  open,
  paused,
  suspect,
  waitMs,
  ...execution
}: ClaimRow<Claimed>): Claim<Claimed> {
  if (execution.executionId !== null) return { kind: 'claimed', execution: execution as unknown as Claimed };
  if (paused) return { kind: 'paused' };
  if (suspect) return { kind: 'suspect' };
  return open ? { kind: 'not_now', waitMs: Math.max(0, Math.ceil(waitMs ?? 0)) } : { kind: 'ended' };
}

/** The transition of a claim. */
export const claimTransition: Transition<'PENDING', 'RUNNING'> = transition(
  taskExecution,
  'PENDING',
  'RUNNING',
);

/**
 * The CTE `claimed`: the rows of the CTE `due` (id) become RUNNING under a lease. `due` has found them
 * PENDING and locked them, so that they still are. The lease counts from `clock_timestamp()`, because a
 * statement that waited for locks would otherwise begin with a part of the lease spent.
 */
export function claimDue({
  actor,
  leaseSeconds,
}: {
  actor: Actor;
  leaseSeconds: number;
}): RawBuilder<unknown> {
  return sql`claimed AS (
      UPDATE task_executions e
      SET status = ${claimTransition.to}, worker_id = ${actor}, started_at = now(), dispatched_at = coalesce(e.dispatched_at, now()),
        lease_expires_at = clock_timestamp() + make_interval(secs => ${leaseSeconds})
      WHERE e.id = ANY (ARRAY(SELECT id FROM due))
      RETURNING e.id, e.subject_id, e.attempt, e.losses
    )`;
}

/**
 * The time at which to try again an open execution of the CTE `asked` that was not claimed; NULL when none is
 * open. It comes from the statement's snapshot. An execution that is due in the snapshot has just been
 * claimed by another worker, so it counts as running for a whole lease. An execution past its lease waits for
 * the reaper, one second at a time: a message that is returned without a wait comes back at once, and reaches
 * the dead-letter queue after a hundred receives.
 */
export function tryAgainAt(leaseSeconds: number): RawBuilder<Date | null> {
  return sql`CASE
        WHEN asked.status = ${claimTransition.to} THEN greatest(asked.lease_expires_at, now() + interval '1 second')
        WHEN asked.run_at > now() THEN asked.run_at
        WHEN asked.status IS NOT NULL THEN now() + make_interval(secs => ${leaseSeconds}) END`;
}
