import { sql } from 'kysely';
import { affectedRows } from '../database/affected-rows.ts';
import type { Database } from '../database/database.ts';

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
 * Drops the partitions of `state_transitions` whose month ended more than `retentionSeconds` ago. A drop
 * needs a short exclusive lock on the parent. The statement waits at most 2 s for the lock; the next run
 * tries again.
 * @returns the names of the dropped partitions
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

/**
 * Removes up to `limit` rows of this age from the default partition, which gets rows only while no partitions
 * are created. @returns how many rows it removed
 */
export async function removeStrayTransitions(
  db: Database,
  { retentionSeconds, limit }: { retentionSeconds: number; limit: number },
): Promise<number> {
  const result = await sql`
    WITH old AS MATERIALIZED (
      SELECT at, id FROM state_transitions_default
      WHERE at < now() - make_interval(secs => ${retentionSeconds}) ORDER BY at, id LIMIT ${limit}
    )
    DELETE FROM state_transitions_default d USING old WHERE (d.at, d.id) = (old.at, old.id)`.execute(db);
  return affectedRows(result);
}
