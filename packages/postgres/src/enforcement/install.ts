import { setTimeout as wait } from 'node:timers/promises';
import { sql, type Kysely } from 'kysely';
import { machines, type Machine } from '@pasteflow/domain';
import { isLockTimeout } from '../database/errors.ts';
import type { Schema } from '../schema/schema.ts';
import { enforcementOf } from './enforcement.ts';
import { commentOf, findMissing } from './installed.ts';
import type { CheckConstraint, EnforcedTrigger, OwnerFunction } from './objects.ts';

/**
 * Changing triggers needs an exclusive lock on each table for a moment, and no order of locking is safe: a
 * creation writes pastes before executions, a settlement executions before pastes. The installation gives up
 * before Postgres checks for deadlocks (after 1 s) and tries again, so that a deploy never fails a statement
 * of a service.
 */
const LOCK_TIMEOUT_MS = 300;
const MAX_TRIES = 50;

/**
 * An autovacuum is canceled only by a session that waits longer than that second. The first lock conflicts
 * with no writer: waiting for it cancels the autovacuum, and holding it prevents the next one.
 */
const VACUUM_TIMEOUT_MS = 30_000;

/**
 * Installs the CHECKs, triggers and functions that enforce the tables of packages/domain. Runs after each
 * migration. What is already current is not changed and not locked.
 */
export async function installStateMachines(
  db: Kysely<Schema>,
  all: readonly Machine[] = machines,
): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await install(db, all);
    } catch (error) {
      if (!isLockTimeout(error) || tries === MAX_TRIES) throw error;
      await wait(LOCK_TIMEOUT_MS * Math.random());
    }
  }
}

async function install(db: Kysely<Schema>, all: readonly Machine[]): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await sql`SELECT pg_advisory_xact_lock(hashtext('pasteflow.enforcement'))`.execute(tx);
    const missing = await findMissing(tx, await enforcementOf(tx, all));
    const tables = new Set([...missing.checks, ...missing.triggers].map(({ table }) => table));
    await setLockTimeout(tx, VACUUM_TIMEOUT_MS);
    for (const table of [...tables].toSorted())
      await sql`LOCK TABLE ${sql.id(table)} IN SHARE UPDATE EXCLUSIVE MODE`.execute(tx);
    await setLockTimeout(tx, LOCK_TIMEOUT_MS);
    for (const check of missing.checks) await installCheck(tx, check);
    for (const trigger of missing.triggers) await installTrigger(tx, trigger);
    for (const routine of missing.functions) await installFunction(tx, routine);
  });
}

async function setLockTimeout(tx: Kysely<Schema>, ms: number): Promise<void> {
  await sql`SET LOCAL lock_timeout = ${sql.lit(`${ms}ms`)}`.execute(tx);
}

async function installCheck(db: Kysely<Schema>, { table, name, expression }: CheckConstraint): Promise<void> {
  const [on, constraint] = [sql.id(table), sql.id(name)];
  await sql`ALTER TABLE ${on} DROP CONSTRAINT IF EXISTS ${constraint}`.execute(db);
  await sql`ALTER TABLE ${on} ADD CONSTRAINT ${constraint} CHECK (${sql.raw(expression)})`.execute(db);
  await sql`COMMENT ON CONSTRAINT ${constraint} ON ${on} IS ${sql.lit(expression)}`.execute(db);
}

/**
 * ENABLE ALWAYS: the trigger also fires under `session_replication_role = replica`. Without EXECUTE, no other
 * role can attach the function to a table of its own, where a function that runs as the owner would write
 * made-up transitions.
 */
async function installTrigger(db: Kysely<Schema>, trigger: EnforcedTrigger): Promise<void> {
  const [on, name, routine] = [sql.id(trigger.table), sql.id(trigger.name), sql.id(trigger.function)];
  const rights = trigger.runsAsOwner ? await asOwner(db) : sql``;
  await sql`CREATE OR REPLACE FUNCTION ${routine}() RETURNS trigger LANGUAGE plpgsql ${rights} ${sql.raw(trigger.settings)}
    AS $body$${sql.raw(trigger.body)}$body$`.execute(db);
  await sql`REVOKE ALL ON FUNCTION ${routine}() FROM PUBLIC`.execute(db);
  await sql`CREATE OR REPLACE TRIGGER ${name} ${sql.raw(trigger.definition)} EXECUTE FUNCTION ${routine}()`.execute(
    db,
  );
  await sql`ALTER TABLE ${on} ENABLE ALWAYS TRIGGER ${name}`.execute(db);
  await sql`COMMENT ON TRIGGER ${name} ON ${on} IS ${sql.lit(commentOf(trigger))}`.execute(db);
}

async function installFunction(
  db: Kysely<Schema>,
  { name, parameters, returns, body }: OwnerFunction,
): Promise<void> {
  await sql`CREATE OR REPLACE FUNCTION ${sql.id(name)}(${sql.raw(parameters)}) RETURNS ${sql.raw(returns)}
    LANGUAGE plpgsql ${await asOwner(db)} AS $body$${sql.raw(body)}$body$`.execute(db);
  await sql`REVOKE ALL ON FUNCTION ${sql.id(name)}(${sql.raw(parameters)}) FROM PUBLIC`.execute(db);
}

/**
 * With a fixed search_path, a caller cannot put objects of its own in front of those of the function.
 * Postgres searches pg_catalog first, and creates new tables in the first schema that is named.
 */
async function asOwner(db: Kysely<Schema>) {
  const { rows } = await sql<{ schema: string }>`SELECT current_schema() AS schema`.execute(db);
  return sql`SECURITY DEFINER SET search_path = ${sql.id(rows[0]?.schema ?? 'public')}, pg_temp`;
}
