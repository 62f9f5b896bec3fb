import { sql } from 'kysely';
import type { Database } from '../database/database.ts';

/** Makes each UPDATE of pastes and executions take this long. @returns a function that makes them fast again */
export async function slowUpdates(db: Database, seconds: number): Promise<() => Promise<void>> {
  const tables = ['task_executions', 'pastes'];
  await sql`CREATE OR REPLACE FUNCTION slow_update() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN PERFORM pg_sleep(${sql.lit(seconds)}); RETURN NULL; END'`.execute(db);
  for (const table of tables)
    await sql`CREATE TRIGGER slow_update BEFORE UPDATE ON ${sql.table(table)}
      FOR EACH STATEMENT EXECUTE FUNCTION slow_update()`.execute(db);
  return async () => {
    for (const table of tables) await sql`DROP TRIGGER slow_update ON ${sql.table(table)}`.execute(db);
  };
}

/** How many UPDATEs wait because of `slowUpdates`. */
export async function countSlowUpdates(db: Database): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*)::integer AS count FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event = 'PgSleep'`.execute(db);
  return rows[0]?.count ?? 0;
}

/** Locks a row, as a transaction that somebody left open in psql. @returns a function that ends the transaction */
export async function lockRow(
  db: Database,
  table: 'pastes' | 'jobs' | 'task_executions',
  id: string,
): Promise<() => Promise<void>> {
  const transaction = await db.startTransaction().execute();
  await sql`SELECT FROM ${sql.table(table)} WHERE id = ${id} FOR UPDATE`.execute(transaction);
  return () => transaction.commit().execute();
}
