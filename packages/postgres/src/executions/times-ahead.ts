import {
  DEFAULT_LEASE_SECONDS,
  defaultRetryPolicy,
  longestDelayMs,
  MAX_RETRY_AFTER_MS,
  webhookRetryPolicy,
} from '@pasteflow/domain';
import { sql, type RawBuilder } from 'kysely';
import type { Database } from '../database/database.ts';
import type { ExecutionKind } from '../schema/executions.ts';
import type { OwnerFunction } from '../database/objects.ts';

/** How far ahead the times of an open execution can be. */
export interface TimeBounds {
  /** The longest wait before an attempt. */
  readonly delaySeconds: Readonly<Record<ExecutionKind, number>>;
  readonly leaseSeconds: number;
}

const defaultDelaySeconds = longestDelayMs(defaultRetryPolicy) / 1000;

/** Of deliveries of webhooks, which no setting changes. */
export const WEBHOOK_DELAY_SECONDS = Math.max(longestDelayMs(webhookRetryPolicy), MAX_RETRY_AFTER_MS) / 1000;

export const defaultTimeBounds: TimeBounds = {
  delaySeconds: { upload: defaultDelaySeconds, job: defaultDelaySeconds, webhook: WEBHOOK_DELAY_SECONDS },
  leaseSeconds: DEFAULT_LEASE_SECONDS,
};

/** Executions with a sane stamp among which a search looks for one that is due too far ahead: those stamped last. */
const MAX_SCANNED = 10_000;

/**
 * Up to `limit` waiting and as many running executions of a kind whose times are further ahead than they can
 * be: `id`, `kind`, `subject_id`, `attempt`, `worker_id` and `until`. Three ranges of the index task_executions_dispatch,
 * so that no search reads a whole backlog. A stamp is written right after the time when the execution is due, so that
 * one whose clock was set back in between is among the last for a while: the sweep looks every 30 s.
 */
export function executionsAhead(kind: ExecutionKind, bounds: TimeBounds, limit: number): RawBuilder<unknown> {
  return sql`(
    WITH waiting AS NOT MATERIALIZED (
      SELECT id, kind, subject_id, attempt, worker_id, run_at, dispatched_at FROM task_executions
      WHERE status = 'PENDING' AND kind = ${sql.lit(kind)}
    ), stamped AS (
      SELECT * FROM waiting WHERE dispatched_at <= ${ahead(0)} ORDER BY dispatched_at DESC NULLS LAST, run_at DESC LIMIT ${sql.lit(MAX_SCANNED)}
    )
    SELECT id, kind, subject_id, attempt, worker_id, greatest(run_at, dispatched_at) AS until FROM (
      SELECT * FROM waiting WHERE dispatched_at > ${ahead(0)}
      UNION ALL SELECT * FROM waiting WHERE dispatched_at IS NULL AND run_at > ${ahead(bounds.delaySeconds[kind])}
      UNION ALL SELECT * FROM stamped WHERE run_at > ${ahead(bounds.delaySeconds[kind])}) AS too_late
    LIMIT ${limit})
    UNION ALL (
    SELECT id, kind, subject_id, attempt, worker_id, lease_expires_at FROM task_executions
    WHERE kind = ${sql.lit(kind)} AND lease_expires_at > ${ahead(bounds.leaseSeconds)} LIMIT ${limit})`;
}

function ahead(seconds: number): RawBuilder<Date> {
  return sql`now() + make_interval(secs => ${AHEAD_SECONDS + seconds})`;
}

/** The ids of executions whose times are too far ahead. */
export async function findExecutionsAhead(
  db: Database,
  kind: ExecutionKind,
  { bounds, limit }: { readonly bounds: TimeBounds; readonly limit: number },
): Promise<readonly string[]> {
  const { rows } = await sql<{
    id: string;
  }>`SELECT id FROM (${executionsAhead(kind, bounds, limit)}) AS too_late`.execute(db);
  return rows.map(({ id }) => id);
}

/**
 * Resets the times of these executions that are too far ahead, and lets the relay send their messages again.
 * Locked executions are left alone.
 * @returns the ids of their pastes or jobs
 */
export async function resetExecutionTimes(
  db: Database,
  executionIds: readonly string[],
  { delaySeconds, leaseSeconds }: { readonly delaySeconds: number; readonly leaseSeconds: number },
): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`
    SELECT reset_execution_times(${executionIds}::uuid[], ${delaySeconds}, ${leaseSeconds}) AS id`.execute(
    db,
  );
  return rows.map(({ id }) => id);
}

/** The ids of up to `limit` pastes that were claimed for deletion at a time that is ahead. */
export async function findClaimsAhead(db: Database, limit: number): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM pastes WHERE deletion_initiated_at > ${ahead(0)} AND deleted_at IS NULL LIMIT ${limit}`.execute(
    db,
  );
  return rows.map(({ id }) => id);
}

/** Resets the times of the deletions of these pastes that are ahead. @returns the ids of the pastes */
export async function resetDeletionTimes(db: Database, ids: readonly string[]): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`SELECT reset_deletion_times(${ids}::uuid[]) AS id`.execute(db);
  return rows.map(({ id }) => id);
}

/**
 * A time that is further ahead was written while the clock of Postgres was ahead. Less than that, the
 * statement may have begun before the one that wrote the time.
 */
const AHEAD_SECONDS = 1;

const aheadNow = `now() + make_interval(secs => ${AHEAD_SECONDS})`;

/**
 * Resets the times of open executions that are further ahead than they can be, because the clock of Postgres
 * was ahead: a waiting execution is due now, and without the stamp of its message, which waits in the queue
 * for just as long, the relay sends another one. A lease ends a lease from now, and a live worker renews it
 * before. No service may change when an execution is due, so this is a function of the owner.
 * @returns the ids of the pastes or jobs
 */
export const resetExecutionTimesFunction: OwnerFunction = {
  name: 'reset_execution_times',
  parameters: 'among uuid[], delay_seconds double precision, lease_seconds double precision',
  returns: 'SETOF uuid',
  body: `
    BEGIN
      RETURN QUERY
        WITH waiting AS MATERIALIZED (
          SELECT id FROM task_executions WHERE id = ANY (among) AND status = 'PENDING'
            AND (run_at > ${aheadNow} + make_interval(secs => delay_seconds) OR dispatched_at > ${aheadNow})
          FOR UPDATE SKIP LOCKED
        )
        UPDATE task_executions e SET run_at = least(e.run_at, now()), dispatched_at = NULL
        FROM waiting WHERE e.id = waiting.id RETURNING e.subject_id;
      RETURN QUERY
        WITH running AS MATERIALIZED (
          SELECT id FROM task_executions WHERE id = ANY (among)
            AND lease_expires_at > ${aheadNow} + make_interval(secs => lease_seconds)
          FOR UPDATE SKIP LOCKED
        )
        UPDATE task_executions e SET lease_expires_at = clock_timestamp() + make_interval(secs => lease_seconds)
        FROM running WHERE e.id = running.id RETURNING e.subject_id;
    END`,
};

/**
 * The same for deletions: those that were requested, for which the cleanup would wait, and those that were
 * claimed, for which the watchdog would. A claim whose time changes is lost to its
 * cleanup, as if the watchdog had released it. The reader of a revealed paste keeps the right to read it again.
 * @returns the ids of the pastes
 */
export const resetDeletionTimesFunction: OwnerFunction = {
  name: 'reset_deletion_times',
  parameters: 'among uuid[]',
  returns: 'SETOF uuid',
  body: `
    BEGIN
      RETURN QUERY
        WITH requested AS MATERIALIZED (
          SELECT id FROM pastes WHERE id = ANY (among) AND deletion_requested_at > ${aheadNow} AND deletion_initiated_at IS NULL
          FOR UPDATE SKIP LOCKED
        )
        UPDATE pastes p SET deletion_requested_at = now() FROM requested WHERE p.id = requested.id RETURNING p.id;
      RETURN QUERY
        WITH claimed AS MATERIALIZED (
          SELECT id FROM pastes WHERE id = ANY (among) AND deletion_initiated_at > ${aheadNow} AND deleted_at IS NULL
          FOR UPDATE SKIP LOCKED
        )
        UPDATE pastes p SET deletion_initiated_at = now(),
          burned_at = CASE WHEN p.burned_at = p.deletion_initiated_at THEN now() ELSE p.burned_at END
        FROM claimed WHERE p.id = claimed.id RETURNING p.id;
    END`,
};
