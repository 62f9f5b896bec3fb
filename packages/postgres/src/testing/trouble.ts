import { sql } from 'kysely';
import type { Database } from '../database/database.ts';

/**
 * Makes each UPDATE of pastes and executions take this long.
 * @returns a function that makes them fast again
 */
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

/**
 * Locks a row, as a transaction that somebody left open in psql. It stays open for as long as the test takes,
 * beyond the 30 s after which Postgres ends an idle transaction of a service.
 * @returns a function that ends the transaction
 */
export async function lockRow(
  db: Database,
  table: 'pastes' | 'jobs' | 'task_executions' | 'webhook_endpoints',
  id: string,
): Promise<() => Promise<void>> {
  const transaction = await db.startTransaction().execute();
  await sql`SET LOCAL idle_in_transaction_session_timeout = 0`.execute(transaction);
  await sql`SELECT FROM ${sql.table(table)} WHERE id = ${id} FOR UPDATE`.execute(transaction);
  return () => transaction.commit().execute();
}

/**
 * Refuses each UPDATE of an execution, as a constraint would by default.
 * @returns a function that allows them again
 */
export async function refuseUpdates(
  db: Database,
  executionId: string,
  sqlstate = '23514',
): Promise<() => Promise<void>> {
  const which = { table: 'task_executions', where: `OLD.id = '${executionId}'`, on: 'UPDATE' };
  return await refuseRow(db, which, sqlstate);
}

/**
 * Refuses to change or to delete a row, by default as if its block were damaged.
 * @returns a function that allows it again
 */
export async function refuseRow(
  db: Database,
  { table, where, on = 'UPDATE OR DELETE' }: { table: string; where: string; on?: string },
  sqlstate = 'XX001',
): Promise<() => Promise<void>> {
  await sql`CREATE OR REPLACE FUNCTION refuse_row() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'refused by the test' USING ERRCODE = TG_ARGV[0]; END $$`.execute(db);
  await sql`CREATE TRIGGER refuse_row BEFORE ${sql.raw(on)} ON ${sql.table(table)} FOR EACH ROW
    WHEN (${sql.raw(where)}) EXECUTE FUNCTION refuse_row(${sql.lit(sqlstate)})`.execute(db);
  return async () => void (await sql`DROP TRIGGER refuse_row ON ${sql.table(table)}`.execute(db));
}

/** Breaks the connections of an application whose statements wait for a lock now. @returns how many */
export async function breakWaitingConnections(db: Database, applicationName: string): Promise<number> {
  const { rows } = await sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE application_name = ${applicationName} AND wait_event_type = 'Lock'`.execute(db);
  return rows.length;
}
