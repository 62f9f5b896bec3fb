import { parseReason, type AttemptCount } from '@pasteflow/domain';
import { sql, type RawBuilder } from 'kysely';
import type { Database } from '../database/database.ts';
import { opaqueState } from '../database/planner.ts';
import {
  foundBy,
  joinSubject,
  pastLease,
  withoutOrphans,
  type Found,
  type SearchableSubject,
} from './search.ts';

/**
 * Renews the leases of all executions that one worker runs, in one statement. A row that another session has
 * locked is skipped: one locked row must not let the leases of the others expire. The reaper skips it, too,
 * so the worker still owns it. Because the statement waits for no row, its locks need no order. The end of a
 * lease is computed when its row is changed, because a slow statement would shorten a lease that counts from
 * its start.
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
      FOR UPDATE SKIP LOCKED
    ), renewed AS (
      UPDATE task_executions e SET lease_expires_at = clock_timestamp() + make_interval(secs => ${leaseSeconds})
      FROM held WHERE e.id = held.id
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
export interface LeasedSubject<Named> extends SearchableSubject {
  /** The columns that name the upload or the job, from `subject` (the paste or the job). */
  readonly nameColumns: RawBuilder<Named>;
}

/** Up to `limit` zombies, the longest overdue first. */
export async function findZombies<Named>(
  db: Database,
  subject: LeasedSubject<Named>,
  limit: number,
  without: readonly string[] = [],
): Promise<Found<Zombie & Named>> {
  const { rows } = await sql<Zombie & Named & { orphaned: boolean }>`
    WITH ${foundBy(pastLease, subject.kind, { limit, without })}
    SELECT found.id AS "executionId", found.attempt, found.losses, found.worker_id AS "workerId", ${subject.nameColumns},
      subject.id IS NULL AS orphaned
    FROM found ${joinSubject(subject)} ORDER BY found.lease_expires_at`.execute(db);
  return withoutOrphans(rows);
}

/**
 * What an execution is an attempt at: the short code of a paste, or the id of a job. null: there is no such
 * execution.
 */
export async function findSubjectOf(db: Database, executionId: string): Promise<string | null> {
  const { rows } = await sql<{ subject: string | null }>`
    SELECT CASE e.kind WHEN 'upload' THEN p.short_code ELSE e.subject_id::text END AS subject
    FROM task_executions e LEFT JOIN pastes p ON p.id = e.subject_id
    WHERE e.id = ${executionId}`.execute(db);
  return rows[0]?.subject ?? null;
}

/**
 * Whether an execution that this process no longer owns was ended by a cancel of its job, and not as a
 * zombie.
 */
export async function wasCancelled(db: Database, executionId: string): Promise<boolean> {
  const row = await db
    .selectFrom('task_executions')
    .select('error')
    .where('id', '=', executionId)
    .executeTakeFirst();
  const error = row?.error ?? null;
  return error !== null && parseReason(error).class === 'cancelled';
}
