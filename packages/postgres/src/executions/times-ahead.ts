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

/** Whether a waiting execution of this kind is due, or its message was sent, later than can be. */
export function isDueTooLate(kind: ExecutionKind, { delaySeconds }: TimeBounds): RawBuilder<boolean> {
  return sql`(run_at > ${ahead(delaySeconds[kind])} OR dispatched_at > ${ahead(0)})`;
}

/** Whether the lease of an execution is longer than a lease. */
export function isLeasedTooLong({ leaseSeconds }: TimeBounds): RawBuilder<boolean> {
  return sql`lease_expires_at > ${ahead(leaseSeconds)}`;
}

function ahead(seconds: number): RawBuilder<Date> {
  return sql`now() + make_interval(secs => ${AHEAD_SECONDS + seconds})`;
}

/**
 * Resets the times of up to `limit` waiting and as many running executions that are too far ahead, and lets
 * the relay send their messages again. Locked executions are left to the next call.
 * @returns the ids of their pastes or jobs
 */
export async function resetExecutionTimes(
  db: Database,
  kind: ExecutionKind,
  { bounds, limit }: { readonly bounds: TimeBounds; readonly limit: number },
): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`
    SELECT reset_execution_times(${kind}, ${bounds.delaySeconds[kind]}, ${bounds.leaseSeconds}, ${limit}) AS id`.execute(
    db,
  );
  return rows.map(({ id }) => id);
}

/**
 * Resets the times of deletions that are ahead: those requested of the pastes `among`, and up to `limit` claims.
 * @returns the ids of the pastes
 */
export async function resetDeletionTimes(
  db: Database,
  { among, limit }: { readonly among: readonly string[]; readonly limit: number },
): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`
    SELECT reset_deletion_times(${among}::uuid[], ${limit}) AS id`.execute(db);
  return rows.map(({ id }) => id);
}
