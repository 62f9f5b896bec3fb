import { DEFAULT_LEASE_SECONDS, defaultRetryPolicy, longestDelayMs } from '@pasteflow/domain';
import { sql, type RawBuilder } from 'kysely';
import type { Database } from '../database/database.ts';
import { AHEAD_SECONDS } from '../enforcement/reset-times.ts';
import type { ExecutionKind } from '../schema/executions.ts';

/** How far ahead the times of an open execution can be. */
export interface TimeBounds {
  /** The longest wait before an attempt. */
  readonly delaySeconds: Readonly<Record<ExecutionKind, number>>;
  readonly leaseSeconds: number;
}

const defaultDelaySeconds = longestDelayMs(defaultRetryPolicy) / 1000;

export const defaultTimeBounds: TimeBounds = {
  delaySeconds: { upload: defaultDelaySeconds, job: defaultDelaySeconds },
  leaseSeconds: DEFAULT_LEASE_SECONDS,
};

/**
 * Up to `limit` waiting and as many running executions of a kind whose times are further ahead than they can
 * be: `id`, `kind`, `subject_id`, `attempt`, `worker_id` and `until`.
 */
export function executionsAhead(kind: ExecutionKind, bounds: TimeBounds, limit: number): RawBuilder<unknown> {
  return sql`(
    SELECT id, kind, subject_id, attempt, worker_id, greatest(run_at, dispatched_at) AS until FROM task_executions
    WHERE status = 'PENDING' AND kind = ${sql.lit(kind)} AND (run_at > ${ahead(bounds.delaySeconds[kind])} OR dispatched_at > ${ahead(0)})
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
