import { sql, type Kysely } from 'kysely';
import type { Schema } from '../schema/schema.ts';
import { rights } from './rights.ts';
import { serviceRoles, type ServiceRole } from './role-names.ts';
import { functionCallers, type TableRights } from './role-rights.ts';

/** Those of the services' roles that exist in the cluster. */
async function existingRoles(db: Kysely<Schema>): Promise<readonly ServiceRole[]> {
  const { rows } = await sql<{ name: ServiceRole }>`
    SELECT rolname AS name FROM pg_roles WHERE rolname = ANY (${[...serviceRoles]}::text[])`.execute(db);
  return rows.map(({ name }) => name);
}

/**
 * Every right that the catalog has for the services' roles on any table, sequence or owner's function
 * of the schema, and for PUBLIC on those of the owner of `pastes`. One statement, whose cost does not depend
 * on the size of the tables.
 */
async function readPrivileges(db: Kysely<Schema>): Promise<readonly Privilege[]> {
  const { rows } = await sql<Privilege>`
    WITH owner AS (
      SELECT relowner AS oid FROM pg_class WHERE oid = to_regclass('pastes')
    ), granted AS (
      SELECT 'relation' AS kind, c.relname AS object, NULL::name AS "column", c.relowner AS object_owner, acl.*
      FROM pg_class c, aclexplode(c.relacl) AS acl WHERE c.relnamespace = current_schema()::regnamespace
      UNION ALL
      SELECT 'relation', c.relname, a.attname, c.relowner, acl.*
      FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid, aclexplode(a.attacl) AS acl
      WHERE c.relnamespace = current_schema()::regnamespace AND NOT a.attisdropped
      UNION ALL
      SELECT 'function', p.proname, NULL, p.proowner, acl.*
      FROM pg_proc p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) AS acl
      WHERE p.pronamespace = current_schema()::regnamespace AND p.prosecdef
    )
    SELECT coalesce(r.rolname, 'PUBLIC') AS role, object, "column", kind,
      privilege_type || CASE WHEN is_grantable THEN ' WITH GRANT OPTION' ELSE '' END AS action
    FROM granted LEFT JOIN pg_roles r ON r.oid = grantee
    WHERE r.rolname = ANY (${[...serviceRoles]}::text[])
      OR grantee = 0 AND object_owner IN (SELECT oid FROM owner)`.execute(db);
  return rows;
}

interface PrivilegeDifference {
  /** Granted by rights.ts, and missing in the database. */
  readonly missing: readonly Privilege[];
  /** In the database, and not in rights.ts. */
  readonly excess: readonly Privilege[];
}

/**
 * Compares the rights in the database with rights.ts. A role that does not exist has no rights and lacks
 * none.
 */
async function comparePrivileges(db: Kysely<Schema>): Promise<PrivilegeDifference> {
  const wanted = (await existingRoles(db)).flatMap(privilegesOf);
  const actual = await readPrivileges(db);
  const [wantedKeys, actualKeys] = [
    new Set(wanted.map(describePrivilege)),
    new Set(actual.map(describePrivilege)),
  ];
  return {
    missing: wanted.filter((privilege) => !actualKeys.has(describePrivilege(privilege))),
    excess: actual.filter((privilege) => !wantedKeys.has(describePrivilege(privilege))),
  };
}

/**
 * Compares the services' roles with rights.ts.
 * @returns what is missing or too much, e.g. `too much: pasteflow_api: DELETE ON pastes`; empty when all is
 * right
 */
export async function findRightsGaps(db: Kysely<Schema>): Promise<readonly string[]> {
  const { missing, excess } = await comparePrivileges(db);
  return [
    ...missing.map((privilege) => `missing: ${describePrivilege(privilege)}`),
    ...excess.map((privilege) => `too much: ${describePrivilege(privilege)}`),
    ...(await findPowers(db)),
  ];
}

/** Powers over the whole database that make the rights on tables meaningless. */
async function findPowers(db: Kysely<Schema>): Promise<readonly string[]> {
  const { rows } = await sql<{ gap: string }>`
    SELECT 'too much: ' || r.rolname || ' ' || power.name AS gap
    FROM pg_roles r, LATERAL (VALUES
      (r.rolsuper, 'is a superuser'),
      (r.rolcreaterole, 'may create roles'),
      (has_schema_privilege(r.oid, current_schema(), 'CREATE'), 'may create tables'),
      (EXISTS (SELECT FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace
        AND c.oid = to_regclass('pastes') AND pg_has_role(r.oid, c.relowner, 'MEMBER')), 'is a member of the owner of the tables')
    ) AS power (has, name)
    WHERE r.rolname = ANY (${[...serviceRoles]}::text[]) AND power.has ORDER BY 1`.execute(db);
  return rows.map(({ gap }) => gap);
}

/**
 * Makes the rights in the database those of rights.ts, in one transaction: a running service never finds
 * fewer. Needs the owner of the tables, a member of the owner or a superuser. Locks no table. What is right
 * already is not changed.
 */
export async function grantRights(db: Kysely<Schema>): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await sql`SELECT pg_advisory_xact_lock(hashtext('pasteflow.enforcement'))`.execute(tx);
    const { missing, excess } = await comparePrivileges(tx);
    const wanted = (await existingRoles(tx)).flatMap(privilegesOf);
    const changed = new Set([...missing, ...excess].map(placeOf));
    const statements = [
      ...[...changed].map((place) => `REVOKE ALL ON ${place.replace(' TO ', ' FROM ')}`),
      ...grantsOf(wanted.filter((privilege) => changed.has(placeOf(privilege)))),
    ];
    if (statements.length > 0) await sql.raw(statements.join(';\n')).execute(tx);
  });
}

/** One GRANT for each action of a role on an object, with all of its columns. */
function grantsOf(privileges: readonly Privilege[]): readonly string[] {
  const groups = Map.groupBy(privileges, (privilege) =>
    describePrivilege({ ...privilege, column: privilege.column === null ? null : '…' }),
  );
  return [...groups.values()].map((group) => {
    const [{ action, column } = { action: '', column: null }] = group;
    const columns = column === null ? '' : ` (${group.map((each) => quote(each.column ?? '')).join(', ')})`;
    return `GRANT ${action}${columns} ON ${placeOf(group[0] as Privilege)}`;
  });
}

/** `pastes TO pasteflow_api`, as GRANT names it. */
function placeOf({ kind, object, role }: Privilege): string {
  const prefix = kind === 'function' ? 'FUNCTION ' : '';
  return `${prefix}${quote(object)} TO ${role === 'PUBLIC' ? role : quote(role)}`;
}

function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** One right of one role, as Postgres stores it. */
interface Privilege {
  /** A role, or `PUBLIC`: every role. */
  readonly role: string;
  readonly action: string;
  /** null: on the whole table, or on a function. */
  readonly column: string | null;
  /** A table, a sequence or a function. */
  readonly object: string;
  readonly kind: 'relation' | 'function';
}

/** `pasteflow_api: UPDATE (expires_at) ON pastes`. */
function describePrivilege({ role, action, column, object }: Privilege): string {
  return `${role}: ${action}${column === null ? '' : ` (${column})`} ON ${object}`;
}

/** Everything that rights.ts grants to one role. */
function privilegesOf(role: ServiceRole): readonly Privilege[] {
  const tables = Object.entries(rights[role]) as [
    keyof Schema,
    TableRights<Record<string, unknown>> | 'none',
  ][];
  return [
    ...tables.flatMap(([table, decision]) => (decision === 'none' ? [] : ofTable(role, table, decision))),
    ...objectsOf(functionCallers, role).map((name): Privilege => ({
      role,
      action: 'EXECUTE',
      column: null,
      object: name,
      kind: 'function',
    })),
  ];
}

function ofTable(
  role: ServiceRole,
  table: string,
  { select = [], insert = [], update = [], delete: mayDelete }: TableRights<Record<string, unknown>>,
): readonly Privilege[] {
  const on = { role, object: table, kind: 'relation' } as const;
  const onColumns = (action: string, columns: 'all' | readonly string[]): Privilege[] =>
    columns === 'all'
      ? [{ ...on, action, column: null }]
      : columns.map((column) => ({ ...on, action, column }));
  return [
    ...onColumns('SELECT', select),
    ...onColumns('INSERT', insert),
    ...onColumns('UPDATE', update),
    ...(mayDelete === true ? [{ ...on, action: 'DELETE', column: null }] : []),
  ];
}

function objectsOf(
  table: Readonly<Record<string, readonly ServiceRole[]>>,
  role: ServiceRole,
): readonly string[] {
  return Object.entries(table).flatMap(([object, roles]) => (roles.includes(role) ? [object] : []));
}
