import { sql, type Kysely } from 'kysely';
import { machines, type Machine } from '@pasteflow/domain';
import { holdOffVacuum, withLockRetries } from '../database/lock-retries.ts';
import type { Schema } from '../schema/schema.ts';
import { enforcementOf } from './enforcement.ts';
import { commentOf, findMissing } from './installed.ts';
import type { CheckConstraint, EnforcedTrigger, OwnerFunction } from './objects.ts';

/**
 * Installs the CHECKs, triggers and functions that enforce the tables of packages/domain. Runs after each
 * migration. What is already current is not changed and not locked.
 */
export async function installStateMachines(
  db: Kysely<Schema>,
  all: readonly Machine[] = machines,
): Promise<void> {
  await withLockRetries(() => install(db, all));
}

async function install(db: Kysely<Schema>, all: readonly Machine[]): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await sql`SELECT pg_advisory_xact_lock(hashtext('pasteflow.enforcement'))`.execute(tx);
    const missing = await findMissing(tx, await enforcementOf(tx, all));
    const tables = new Set([...missing.checks, ...missing.triggers].map(({ table }) => table));
    await actAsOwner(tx);
    await holdOffVacuum(tx, [...tables]);
    for (const check of missing.checks) await installCheck(tx, check);
    for (const trigger of missing.triggers) await installTrigger(tx, trigger);
    for (const routine of missing.functions) await installFunction(tx, routine);
  });
}

/**
 * A function that runs with the rights of its owner must not belong to the superuser who happens to migrate.
 * The rest of the transaction therefore runs as the owner of the tables. The schema stays the same: a
 * search_path with "$user" would name another one for another role.
 */
async function actAsOwner(tx: Kysely<Schema>): Promise<void> {
  await sql`SELECT set_config('search_path', quote_ident(current_schema()), true)`.execute(tx);
  await sql`
    SELECT set_config('role', owner.rolname, true) FROM pg_class c JOIN pg_roles owner ON owner.oid = c.relowner
    WHERE c.oid = to_regclass('pastes') AND owner.rolname <> current_user AND pg_has_role(current_user, owner.oid, 'MEMBER')`.execute(
    tx,
  );
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
