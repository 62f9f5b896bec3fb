import { sql, type RawBuilder } from 'kysely';
import { affectedRows, type Database } from '../database/database.ts';
import { removed, within, type Aged, type Portion } from '../database/one-row.ts';
import { isTerminal, job, statesOf } from '@pasteflow/domain';

export interface OldFailed {
  readonly id: string;
  readonly shortCode: string;
  /**
   * In microseconds. With the short code this is the place after which the next `claimOldFailed` continues.
   */
  readonly createdAt: string;
}

interface FailedPortion extends Portion {
  readonly retentionSeconds: number;
  readonly after: OldFailed | null;
}

const name = sql<string>`id::text`;

export function searchOldFailed({ retentionSeconds, after, ...portion }: FailedPortion): RawBuilder<unknown> {
  return sql`
      SELECT id, id::text AS name, short_code, created_at FROM pastes
      WHERE failed_at IS NOT NULL AND status = 'FAILED' AND created_at < now() - make_interval(secs => ${retentionSeconds})
        AND (created_at, short_code) > (coalesce(${after?.createdAt ?? null}::timestamptz, '-infinity'), ${after?.shortCode ?? ''})
        AND ${within(name, portion)}
      ORDER BY created_at, short_code LIMIT ${portion.limit}`;
}

/**
 * Claims up to `limit` FAILED pastes that were created more than `retentionSeconds` ago, oldest first,
 * after the place `after` (null: from the start), for their removal: their payloads are deleted, so that they
 * can't be retried any more. Only then may their objects be deleted: after a retry, the object would be that
 * of the paste that replaced the FAILED one. Continuing after the last one, instead of reading the oldest
 * again, skips pastes whose object could not be deleted.
 *
 * The row lock rules out a retry at the same time. A CHECK of the table gives `failed_at` to FAILED pastes
 * only; the index has the same condition.
 */
export async function claimOldFailed(db: Database, old: FailedPortion): Promise<readonly OldFailed[]> {
  const { rows } = await sql<OldFailed>`
    WITH old AS MATERIALIZED (
      ${searchOldFailed(old)} FOR UPDATE SKIP LOCKED
    ), forgotten AS (
      DELETE FROM failed_payloads WHERE paste_id IN (SELECT id FROM old)
    )
    SELECT id, short_code AS "shortCode", created_at::text AS "createdAt" FROM old ORDER BY created_at, short_code`.execute(
    db,
  );
  return rows;
}

/** The row of a deposit is removed together with the row of its paste. */
const withoutDeposits = sql`undeposited AS (
      DELETE FROM deposits WHERE short_code IN (SELECT short_code FROM old)
    )`;

/** Removes FAILED pastes and their executions. @returns how many pastes it removed */
export async function removeFailed(db: Database, ids: readonly string[]): Promise<number> {
  if (ids.length === 0) return 0;
  const result = await sql`
    WITH old AS MATERIALIZED (
      SELECT id, short_code FROM pastes WHERE id = ANY (${ids}::uuid[]) AND status = 'FAILED' FOR UPDATE SKIP LOCKED
    ), ${withoutDeposits}
    DELETE FROM pastes USING old WHERE pastes.id = old.id`.execute(db);
  return affectedRows(result);
}

export function searchTombstones({ retentionSeconds, ...portion }: Aged): RawBuilder<unknown> {
  return sql`
      SELECT id, id::text AS name, short_code FROM pastes
      WHERE deleted_at < now() - make_interval(secs => ${retentionSeconds}) AND deletion_status = 'DELETED' AND ${within(name, portion)}
      ORDER BY deleted_at LIMIT ${portion.limit}`;
}

/**
 * Removes up to `limit` pastes that were DELETED more than `retentionSeconds` ago, and their executions. A
 * CHECK of the table gives `deleted_at` to DELETED pastes only; the state is named once more because the rows
 * are gone afterwards.
 * @returns how many pastes it removed
 */
export async function removeTombstones(db: Database, old: Aged): Promise<number> {
  const result = await sql`
    WITH old AS MATERIALIZED (
      ${searchTombstones(old)} FOR UPDATE SKIP LOCKED
    ), ${withoutDeposits}
    DELETE FROM pastes USING old WHERE pastes.id = old.id`.execute(db);
  return affectedRows(result);
}

/**
 * A request stays for so long after its expiry, whatever the retention is: a deposit that came in time may commit later,
 * and a removal does not see what commits while it runs. With 30 s for each statement, no deposit takes so long.
 */
const MIN_REQUEST_SECONDS = 600;

export function searchOldRequests({ retentionSeconds, ...portion }: Aged): RawBuilder<unknown> {
  const seconds = Math.max(retentionSeconds, MIN_REQUEST_SECONDS);
  return sql`
      SELECT id, id::text AS name FROM secret_requests r
      WHERE expires_at < now() - make_interval(secs => ${seconds}) AND ${within(sql`id::text`, portion)}
        AND NOT EXISTS (SELECT FROM deposits d WHERE d.request_id = r.id)
      ORDER BY expires_at LIMIT ${portion.limit}`;
}

/**
 * Removes up to `limit` requests for secrets that expired more than `retentionSeconds` ago. One with deposits stays
 * until their pastes are removed, because they have the keys. @returns how many it removed
 */
export const removeOldRequests = (db: Database, old: Aged): Promise<number> =>
  removed(db, 'secret_requests', searchOldRequests(old));

export function searchOldInvitations({ retentionSeconds, ...portion }: Aged): RawBuilder<unknown> {
  return sql`
      SELECT id, id::text AS name FROM invitations
      WHERE expires_at < now() - make_interval(secs => ${retentionSeconds}) AND ${within(sql`id::text`, portion)}
      ORDER BY expires_at LIMIT ${portion.limit}`;
}

/**
 * Removes up to `limit` invitations that expired more than `retentionSeconds` ago. Until then their links say that they
 * are used up. @returns how many it removed
 */
export const removeOldInvitations = (db: Database, old: Aged): Promise<number> =>
  removed(db, 'invitations', searchOldInvitations(old));

const terminal = statesOf(job).filter((state) => isTerminal(job, state));

/** A job to remove. */
export interface EndedJob {
  readonly id: string;
  /** The job that retries it. A job that was retried after it was found is not removed. */
  readonly retriedAs: string | null;
}

export interface OldJob extends EndedJob {
  /** In microseconds. With the id this is the place after which the next `findOldJobs` continues. */
  readonly completedAt: string;
}

/** A job stays for as long as the job that retries it: a further retry skips what both have made. */
const isNotRetried = sql`NOT EXISTS (SELECT FROM jobs retry WHERE retry.id = jobs.retried_as)`;

/**
 * Up to `limit` jobs that ended more than `retentionSeconds` ago, oldest end first, after the place `after`
 * (null: from the start). Continuing after the last one skips jobs whose objects could not be deleted.
 */
export async function findOldJobs(
  db: Database,
  { retentionSeconds, after, limit }: { retentionSeconds: number; after: OldJob | null; limit: number },
): Promise<readonly OldJob[]> {
  const from =
    after === null
      ? sql`completed_at IS NOT NULL`
      : sql`(completed_at, id) > (${after.completedAt}::timestamptz, ${after.id}::uuid)`;
  const { rows } = await sql<OldJob>`
    SELECT id, retried_as AS "retriedAs", completed_at::text AS "completedAt" FROM jobs
    WHERE ${from} AND completed_at < now() - make_interval(secs => ${retentionSeconds}) AND ${isNotRetried}
    ORDER BY completed_at, id LIMIT ${limit}`.execute(db);
  return rows;
}

/**
 * Removes jobs that have ended, with their assets and executions. Pastes that the jobs created stay. A job
 * that another session has locked stays, too, so that it holds up no others. So does one that was retried since it was
 * found: its column says so, while the row of a retry that commits meanwhile could not be seen.
 * @returns how many jobs it removed
 */
export async function removeJobs(db: Database, ended: readonly EndedJob[]): Promise<number> {
  if (ended.length === 0) return 0;
  const [ids, retries] = [ended.map(({ id }) => id), ended.map(({ retriedAs }) => retriedAs)];
  const result = await sql`
    WITH old AS MATERIALIZED (
      SELECT j.id FROM jobs j JOIN unnest(${ids}::uuid[], ${retries}::uuid[]) AS found (id, retried_as) USING (id)
      WHERE j.status = ANY (${terminal}) AND j.retried_as IS NOT DISTINCT FROM found.retried_as
      FOR UPDATE OF j SKIP LOCKED
    )
    DELETE FROM jobs USING old WHERE jobs.id = old.id`.execute(db);
  return affectedRows(result);
}

export function searchJudgedReports({ retentionSeconds, ...portion }: Aged): RawBuilder<unknown> {
  return sql`
      SELECT id, id::text AS name FROM paste_reports
      WHERE judged_at < now() - make_interval(secs => ${retentionSeconds}) AND ${within(sql`id::text`, portion)}
      ORDER BY judged_at LIMIT ${portion.limit}`;
}

/** Removes up to `limit` reports that were judged more than `retentionSeconds` ago. @returns how many */
export const removeJudgedReports = (db: Database, old: Aged): Promise<number> =>
  removed(db, 'paste_reports', searchJudgedReports(old));

/**
 * Creates the partitions of `state_transitions` for this month and the next `monthsAhead` months. Creating
 * one needs a short exclusive lock on the parent. The statement waits at most 2 s for the lock, because each
 * transition queues behind it; the next run tries again.
 * @returns how many partitions it created
 */
export async function ensureTransitionPartitions(db: Database, monthsAhead: number): Promise<number> {
  return db.transaction().execute(async (tx) => {
    await sql`SET LOCAL lock_timeout = '2s'`.execute(tx);
    const { rows } = await sql<{ made: number }>`
      SELECT ensure_transition_partitions(${monthsAhead}::integer) AS made`.execute(tx);
    return rows[0]?.made ?? 0;
  });
}

/**
 * Drops the partitions of `state_transitions` whose month ended more than `retentionSeconds` ago, and the
 * default partition once its newest transition is as old; an empty one takes its place. A drop needs a short
 * exclusive lock on the parent. The statement waits at most 2 s for the lock; the next run tries again.
 * @returns the names of the dropped partitions
 * @throws when `retentionSeconds` is less than 7 days
 */
export async function dropOldTransitions(db: Database, retentionSeconds: number): Promise<readonly string[]> {
  const dropped: string[] = [];
  for (;;) {
    const name = await dropOldestPartition(db, retentionSeconds);
    if (name === null) return dropped;
    dropped.push(name);
  }
}

/** One transaction for each partition: each lock is short. */
async function dropOldestPartition(db: Database, retentionSeconds: number): Promise<string | null> {
  return db.transaction().execute(async (tx) => {
    await sql`SET LOCAL lock_timeout = '2s'`.execute(tx);
    const { rows } = await sql<{ name: string | null }>`
      SELECT drop_old_transitions(${retentionSeconds}::float8) AS name`.execute(tx);
    return rows[0]?.name ?? null;
  });
}
