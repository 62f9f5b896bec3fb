import { sql } from 'kysely';
import type { Database } from '../database/database.ts';

export interface OldFailed {
  readonly shortCode: string;
  /** To the microsecond: with the short code it is the place in the order that `findOldFailed` goes on from. */
  readonly createdAt: string;
}

/**
 * R6: up to `limit` FAILED pastes made more than `retentionSeconds` ago, oldest first, from behind `after` on (null: from the start).
 * Going on behind the last one, instead of asking for the oldest again, passes over those whose object could not be deleted.
 */
export async function findOldFailed(
  db: Database,
  { retentionSeconds, after, limit }: { retentionSeconds: number; after: OldFailed | null; limit: number },
): Promise<readonly OldFailed[]> {
  const { rows } = await sql<OldFailed>`
    SELECT short_code AS "shortCode", created_at::text AS "createdAt" FROM pastes
    WHERE failed_at IS NOT NULL AND status = 'FAILED' AND created_at < now() - make_interval(secs => ${retentionSeconds})
      AND (created_at, short_code) > (coalesce(${after?.createdAt ?? null}::timestamptz, '-infinity'), ${after?.shortCode ?? ''})
    ORDER BY created_at, short_code LIMIT ${limit}`.execute(db);
  return rows;
}

/** Removes FAILED pastes; their executions go with them. @returns how many pastes it removed */
export async function removeFailed(db: Database, shortCodes: readonly string[]): Promise<number> {
  if (shortCodes.length === 0) return 0;
  const { numAffectedRows } = await sql`
    WITH old AS MATERIALIZED (
      SELECT id FROM pastes WHERE short_code = ANY (${shortCodes}) AND status = 'FAILED' ORDER BY id FOR UPDATE
    )
    DELETE FROM pastes USING old WHERE pastes.id = old.id`.execute(db);
  return Number(numAffectedRows ?? 0);
}

/** Removes up to `limit` pastes DELETED more than `retentionSeconds` ago; their executions go with them. @returns how many */
export async function removeTombstones(
  db: Database,
  { retentionSeconds, limit }: { retentionSeconds: number; limit: number },
): Promise<number> {
  const { numAffectedRows } = await sql`
    WITH old AS MATERIALIZED (
      SELECT id FROM pastes
      WHERE deleted_at < now() - make_interval(secs => ${retentionSeconds}) AND deletion_status = 'DELETED'
      ORDER BY deleted_at LIMIT ${limit} FOR UPDATE SKIP LOCKED
    )
    DELETE FROM pastes USING old WHERE pastes.id = old.id`.execute(db);
  return Number(numAffectedRows ?? 0);
}

/**
 * Makes the partitions of `state_transitions` for this month and the next `monthsAhead`. Making one needs a moment's exclusive lock on the
 * parent: it waits at most 2 s, since every transition queues behind it, and the next run tries again.
 * @returns how many it made
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
 * Drops the partitions of `state_transitions` whose month ended more than `retentionSeconds` ago. A drop needs a moment's exclusive lock on
 * the parent: it waits at most 2 s, and the next run tries again.
 * @returns the names of the partitions dropped
 */
export async function dropOldTransitions(db: Database, retentionSeconds: number): Promise<readonly string[]> {
  const { rows } = await sql<{ name: string }>`
    SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'state_transitions'::regclass AND c.relname ~ '^state_transitions_[0-9]{4}_[0-9]{2}$'
      AND (to_date(right(c.relname, 7), 'YYYY_MM') + interval '1 month') AT TIME ZONE 'UTC'
        < now() - make_interval(secs => ${retentionSeconds})
    ORDER BY 1`.execute(db);
  for (const { name } of rows) {
    await db.transaction().execute(async (tx) => {
      await sql`SET LOCAL lock_timeout = '2s'`.execute(tx);
      await sql`DROP TABLE IF EXISTS ${sql.id(name)}`.execute(tx);
    });
  }
  return rows.map((row) => row.name);
}

/** Removes up to `limit` rows as old from the default partition, which only fills while no partitions are made. @returns how many */
export async function removeStrayTransitions(
  db: Database,
  { retentionSeconds, limit }: { retentionSeconds: number; limit: number },
): Promise<number> {
  const { numAffectedRows } = await sql`
    WITH old AS MATERIALIZED (
      SELECT at, id FROM state_transitions_default
      WHERE at < now() - make_interval(secs => ${retentionSeconds}) ORDER BY at, id LIMIT ${limit}
    )
    DELETE FROM state_transitions_default d USING old WHERE (d.at, d.id) = (old.at, old.id)`.execute(db);
  return Number(numAffectedRows ?? 0);
}
