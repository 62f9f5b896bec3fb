import type { AttemptCount } from '@pasteflow/domain';
import { sql, type RawBuilder } from 'kysely';
import type { Database } from '../database/database.ts';
import type { ExecutionKind } from '../schema/task-executions.ts';
import { opaqueState } from './opaque-state.ts';

/**
 * Renews the leases of all executions that one worker runs, in one statement. A row that another session has locked is skipped: one
 * locked row must not let the leases of the others expire. The reaper skips it, too, so the worker still owns it. The end of a lease is
 * computed when its row is changed, because a slow statement would shorten a lease that counts from its start.
 * @returns the executions that the worker still owns; it must drop the others, which were taken from it
 */
export async function renewLeases(
  db: Database,
  executionIds: readonly string[],
  leaseSeconds: number,
): Promise<ReadonlySet<string>> {
  if (executionIds.length === 0) return new Set();
  const { rows } = await sql<{ id: string }>`
    WITH owned AS MATERIALIZED (
      SELECT id FROM task_executions e WHERE id = ANY (${executionIds}::uuid[]) AND ${opaqueState('e')} = 'RUNNING'
    ), held AS MATERIALIZED (
      SELECT id FROM task_executions e WHERE id = ANY (${executionIds}::uuid[]) AND ${opaqueState('e')} = 'RUNNING'
      ORDER BY id FOR UPDATE SKIP LOCKED
    ), renewed AS (
      UPDATE task_executions e SET lease_expires_at = clock_timestamp() + make_interval(secs => ${leaseSeconds})
      FROM held WHERE e.id = held.id AND ${opaqueState('e')} = 'RUNNING'
    )
    SELECT id FROM owned`.execute(db);
  return new Set(rows.map((row) => row.id));
}

/** An execution past its lease. */
export interface Zombie extends AttemptCount {
  readonly executionId: string;
  readonly workerId: string;
}

/** What the search for zombies needs to know about uploads or jobs. */
export interface LeasedSubject<Named> {
  readonly kind: ExecutionKind;
  /** The columns that name the upload or the job, from the CTE `zombie` (subject_id) and the table that `joinSubject` joins to it. */
  readonly nameColumns: RawBuilder<Named>;
  readonly joinSubject: RawBuilder<unknown>;
}

/** Up to `limit` zombies, the longest overdue first. Rows that another session has locked are left out, so that they hold up no others. */
export async function findZombies<Named>(
  db: Database,
  { kind, nameColumns, joinSubject }: LeasedSubject<Named>,
  limit: number,
): Promise<readonly (Zombie & Named)[]> {
  const { rows } = await sql<Zombie & Named>`
    WITH zombie AS MATERIALIZED (
      SELECT id, subject_id, attempt, losses, worker_id, lease_expires_at FROM task_executions e
      WHERE ${opaqueState('e')} = 'RUNNING' AND lease_expires_at < now() AND kind = ${sql.lit(kind)}
      ORDER BY lease_expires_at LIMIT ${limit} FOR NO KEY UPDATE SKIP LOCKED
    )
    SELECT zombie.id AS "executionId", zombie.attempt, zombie.losses, zombie.worker_id AS "workerId", ${nameColumns}
    FROM zombie ${joinSubject} ORDER BY zombie.lease_expires_at`.execute(db);
  return rows;
}
