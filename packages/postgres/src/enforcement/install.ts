import { sql, type Kysely } from 'kysely';
import { machines, type Machine } from '@pasteflow/domain';
import { holdOffVacuum, withLockRetries } from '../database/locks.ts';
import type { Schema } from '../schema/schema.ts';
import { enforcementOf, type Enforcement } from './enforcement.ts';
import type { CheckConstraint, EnforcedTrigger, OwnerFunction } from '../database/objects.ts';

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

/**
 * Compares the database with the enforcement that this version of Pasteflow installs.
 * @returns what is missing, disabled or different, e.g. `trigger guard_job on jobs`; empty when all is in
 * place
 */
export async function findEnforcementGaps(
  db: Kysely<Schema>,
  all: readonly Machine[] = machines,
): Promise<readonly string[]> {
  const { checks, triggers, functions } = await findMissing(db, await enforcementOf(db, all));
  return [
    ...checks.map(({ name, table }) => `constraint ${name} on ${table}`),
    ...triggers.map(({ name, table }) => `trigger ${name} on ${table}`),
    ...functions.map(({ name }) => `function ${name}`),
  ];
}

/** The part of the enforcement that is missing, disabled or different. */
async function findMissing(db: Kysely<Schema>, expected: Enforcement): Promise<Enforcement> {
  const installed = await readInstalled(db);
  return {
    checks: expected.checks.filter(
      ({ table, name, expression }) => installed.checks.get(`${table}.${name}`) !== expression,
    ),
    triggers: expected.triggers.filter(
      (trigger) => installed.triggers.get(`${trigger.table}.${trigger.name}`) !== contentOf(trigger),
    ),
    functions: expected.functions.filter(({ name, body }) => installed.functions.get(name) !== body),
  };
}

/** What a trigger is compared by. */
function contentOf(trigger: EnforcedTrigger): string {
  return JSON.stringify([commentOf(trigger), trigger.body, trigger.runsAsOwner]);
}

/**
 * The comment of a trigger or constraint has the definition as it was installed: Postgres stores the
 * definition itself in another form.
 */
function commentOf({ definition, settings }: EnforcedTrigger): string {
  return `${definition} ${settings}`.trim();
}

interface Installed {
  readonly checks: ReadonlyMap<string, CheckConstraint['expression']>;
  readonly triggers: ReadonlyMap<string, string>;
  readonly functions: ReadonlyMap<string, OwnerFunction['body']>;
}

/**
 * One statement, whose cost does not depend on the size of the tables. A trigger counts only when it fires
 * always (`A`): one that was enabled in the ordinary way (`O`) is skipped under `session_replication_role =
 * replica`.
 */
async function readInstalled(db: Kysely<Schema>): Promise<Installed> {
  const { rows } = await sql<{ kind: string; name: string; content: string }>`
    SELECT 'check' AS kind, conrelid::regclass || '.' || conname AS name,
      coalesce(obj_description(oid, 'pg_constraint'), '') AS content
    FROM pg_constraint WHERE contype = 'c' AND convalidated AND connamespace = current_schema()::regnamespace
    UNION ALL
    SELECT 'trigger', t.tgrelid::regclass || '.' || t.tgname,
      json_build_array(coalesce(obj_description(t.oid, 'pg_trigger'), ''), p.prosrc, p.prosecdef)::text
    FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid
    WHERE NOT t.tgisinternal AND t.tgenabled = 'A' AND p.pronamespace = current_schema()::regnamespace
    UNION ALL
    SELECT 'function', proname, prosrc FROM pg_proc
    WHERE prosecdef AND prorettype <> 'trigger'::regtype AND pronamespace = current_schema()::regnamespace`.execute(
    db,
  );
  const of = (kind: string) =>
    new Map(rows.filter((row) => row.kind === kind).map(({ name, content }) => [name, content]));
  const triggers = new Map(
    [...of('trigger')].map(([name, content]) => [name, JSON.stringify(JSON.parse(content))]),
  );
  return { checks: of('check'), triggers, functions: of('function') };
}
