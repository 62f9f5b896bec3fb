import { sql } from 'kysely';
import type { Database } from '../database/database.ts';
import type { ExecutionKind } from '../schema/task-executions.ts';
import { opaqueState } from './opaque-state.ts';

/**
 * Renews the leases of everything one worker runs, in one statement.
 * @returns the executions that are still its own; whatever else was asked for has been taken from it and must be dropped
 */
export async function renewLeases(
  db: Database,
  executionIds: readonly string[],
  leaseSeconds: number,
): Promise<ReadonlySet<string>> {
  if (executionIds.length === 0) return new Set();
  const { rows } = await sql<{ id: string }>`
    WITH held AS MATERIALIZED (
      SELECT id FROM task_executions e WHERE id = ANY (${executionIds}::uuid[]) AND ${opaqueState('e')} = 'RUNNING' ORDER BY id FOR UPDATE
    )
    UPDATE task_executions e SET lease_expires_at = now() + make_interval(secs => ${leaseSeconds})
    FROM held WHERE e.id = held.id AND ${opaqueState('e')} = 'RUNNING' RETURNING e.id`.execute(db);
  return new Set(rows.map((row) => row.id));
}

export interface Zombie {
  readonly executionId: string;
  readonly attempt: number;
  readonly workerId: string;
}

/** Up to `limit` executions past their lease, the longest overdue first. */
export async function findZombies(
  db: Database,
  kind: ExecutionKind,
  limit: number,
): Promise<readonly Zombie[]> {
  const { rows } = await sql<Zombie>`
    SELECT id AS "executionId", attempt, worker_id AS "workerId" FROM task_executions e
    WHERE ${opaqueState('e')} = 'RUNNING' AND lease_expires_at < now() AND kind = ${kind}
    ORDER BY lease_expires_at LIMIT ${limit}`.execute(db);
  return rows;
}
