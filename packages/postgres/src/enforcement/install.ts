import { sql, type Kysely } from 'kysely';
import { machines, type Machine } from '@pasteflow/domain';
import type { Schema } from '../schema/schema.ts';
import { guardStatements, recorderStatements, stateCheck, type CheckConstraint } from './machine-sql.ts';

/**
 * Makes the database's enforcement of the state machines equal to the tables in packages/domain. Runs after the migrations, each time:
 * what is already right is replaced by the same, in one transaction. Waits at most 5 s for a lock, so that a deploy can't freeze traffic.
 */
export async function installStateMachines(
  db: Kysely<Schema>,
  all: readonly Machine[] = machines,
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await sql`SET LOCAL lock_timeout = '5s'`.execute(tx);
    await sql`SELECT pg_advisory_xact_lock(hashtext('pasteflow.enforcement'))`.execute(tx);
    for (const machine of all) {
      await installCheck(tx, stateCheck(machine));
      for (const statement of guardStatements(machine)) await sql.raw(statement).execute(tx);
    }
    for (const table of new Set(all.map((machine) => machine.storedIn.table))) {
      const here = all.filter((machine) => machine.storedIn.table === table);
      for (const statement of recorderStatements(table, here)) await sql.raw(statement).execute(tx);
    }
  });
}

/**
 * Adding a CHECK reads the whole table, so that an equal one is left alone; its comment keeps the expression as we wrote it, since
 * Postgres gives it back in words of its own.
 */
async function installCheck(db: Kysely<Schema>, check: CheckConstraint): Promise<void> {
  const { rows } = await sql<{ comment: string | null }>`
    SELECT obj_description(oid, 'pg_constraint') AS comment FROM pg_constraint
    WHERE conrelid = ${check.table}::regclass AND conname = ${check.name}`.execute(db);
  if (rows[0]?.comment === check.expression) return;
  const table = sql.id(check.table);
  const name = sql.id(check.name);
  await sql`ALTER TABLE ${table} DROP CONSTRAINT IF EXISTS ${name}`.execute(db);
  await sql`ALTER TABLE ${table} ADD CONSTRAINT ${name} CHECK (${sql.raw(check.expression)})`.execute(db);
  await sql`COMMENT ON CONSTRAINT ${name} ON ${table} IS ${sql.lit(check.expression)}`.execute(db);
}
