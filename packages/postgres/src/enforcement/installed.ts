import { machines, type Machine } from '@pasteflow/domain';
import { sql, type Kysely } from 'kysely';
import type { Schema } from '../schema/schema.ts';
import { enforcementOf, type Enforcement } from './enforcement.ts';
import type { CheckConstraint, EnforcedTrigger, OwnerFunction } from './objects.ts';

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
export async function findMissing(db: Kysely<Schema>, expected: Enforcement): Promise<Enforcement> {
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
export function commentOf({ definition, settings }: EnforcedTrigger): string {
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
