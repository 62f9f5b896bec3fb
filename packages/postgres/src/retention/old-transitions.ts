import { sql } from 'kysely';
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
