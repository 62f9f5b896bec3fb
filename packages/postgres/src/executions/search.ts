import { sql, type RawBuilder } from 'kysely';
import type { Database } from '../database/database.ts';
import { within, type Portion } from '../database/one-row.ts';
import type { ExecutionKind } from '../schema/executions.ts';
import { opaqueState } from '../database/planner.ts';
import { UPLOADS } from './work-kinds.ts';

/**
 * Open executions that a sweep looks for: a condition and an order that an index serves. Both name the
 * columns of `e`.
 */
export interface Search {
  readonly condition: RawBuilder<unknown>;
  readonly order: RawBuilder<unknown>;
}

/** What a search for executions needs to know about uploads or jobs. */
export interface SearchableSubject {
  readonly kind: ExecutionKind;
  readonly table: 'pastes' | 'jobs' | 'webhook_deliveries';
}

/** What a search has found. */
export interface Found<Item> {
  readonly items: readonly Item[];
  /** How many more executions were found whose paste or job is gone: see `removeOrphans`. */
  readonly orphans: number;
}

const dispatchOrder = sql`e.dispatched_at NULLS FIRST, e.run_at`;

/**
 * Due, and no message was ever sent. `graceSeconds` leaves the api the time to send the messages of what it
 * has just committed.
 */
export function undispatched(graceSeconds: number): Search {
  return {
    condition: sql`e.status = 'PENDING' AND e.dispatched_at IS NULL AND e.run_at < now() - make_interval(secs => ${graceSeconds})`,
    order: dispatchOrder,
  };
}

/**
 * Due, and a message was sent, both more than `olderThanSeconds` ago: the message may be lost. The messages of
 * uploads stay in their queue while these are paused, and are received only after that. Lost messages of jobs
 * are counted instead.
 */
export function overdue(kind: ExecutionKind, olderThanSeconds: number): Search {
  const longAgo = sql`now() - make_interval(secs => ${olderThanSeconds})`;
  return {
    condition: sql`e.status = 'PENDING' AND e.dispatched_at < ${longAgo} AND e.run_at < ${longAgo}${
      kind === 'upload'
        ? sql` AND NOT EXISTS (
      SELECT FROM work_kinds WHERE kind = ${UPLOADS} AND (paused_at IS NOT NULL OR resumed_at BETWEEN ${longAgo} AND now()))`
        : sql``
    }`,
    order: dispatchOrder,
  };
}

/** Zombies. */
export const pastLease: Search = {
  condition: sql`${opaqueState('e')} = 'RUNNING' AND e.lease_expires_at < now()`,
  order: sql`e.lease_expires_at`,
};

/**
 * The CTE `found`: the first `limit` executions of a search. Rows that another session has
 * locked are left out, so that they hold up no others.
 */
export function foundBy(search: Search, kind: ExecutionKind, portion: Portion): RawBuilder<unknown> {
  return sql`found AS MATERIALIZED (
      SELECT e.* FROM task_executions e
      WHERE ${search.condition} AND e.kind = ${sql.lit(kind)} AND ${within(sql`e.id::text`, portion)}
      ORDER BY ${search.order} LIMIT ${portion.limit} FOR NO KEY UPDATE SKIP LOCKED
    )`;
}

/**
 * The paste or the job of each execution of the CTE `found`, as `subject`. All its columns are NULL when it
 * is gone.
 */
export function joinSubject({ table }: SearchableSubject): RawBuilder<unknown> {
  return sql`LEFT JOIN ${sql.table(table)} subject ON subject.id = found.subject_id`;
}

/** Separates the rows of a search by their column `orphaned`. */
export function withoutOrphans<Item extends object>(
  rows: readonly (Item & { orphaned: boolean })[],
): Found<Item> {
  const items = rows.flatMap(({ orphaned, ...item }) => (orphaned ? [] : [item as unknown as Item]));
  return { items, orphans: rows.length - items.length };
}

/**
 * Removes, of the first `limit` executions of a search, those whose paste or job is gone. Only plain SQL can
 * leave them: the row of a paste or a job takes its executions along when it is deleted. An orphan can never
 * end, and it would stay at the front of each search: 500 of them, a batch of the relay or the reaper, would
 * hold up the work of everybody.
 * @returns the ids of the removed executions
 */
export async function removeOrphans(
  db: Database,
  subject: SearchableSubject,
  search: Search,
  limit: number,
): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`
    WITH ${foundBy(search, subject.kind, { limit })},
    orphan AS (
      SELECT found.id FROM found ${joinSubject(subject)} WHERE subject.id IS NULL
    )
    DELETE FROM task_executions e USING orphan WHERE e.id = orphan.id RETURNING e.id`.execute(db);
  return rows.map(({ id }) => id);
}
