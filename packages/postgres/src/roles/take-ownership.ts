import { sql, type Kysely } from 'kysely';
import { holdOffVacuum, withLockRetries } from '../database/locks.ts';
import { trailFunctions } from '../enforcement/audit-trail.ts';
import type { Schema } from '../schema/schema.ts';
import { readCurrentUser } from './current-user.ts';
import { rights } from './rights.ts';
import { untypedTables } from './role-rights.ts';
import { OWNER_ROLE } from './role-names.ts';

/** The functions of the migrations. Those of the enforcement are named after its triggers. */
const FUNCTIONS = [
  'uuid_v7',
  'remove_executions_of_pastes',
  'remove_executions_of_jobs',
  'remove_executions_of_deliveries',
  'next_deliveries',
  'has_open_execution',
  'made_by_job',
  'take_job_turn',
  'slugs_left',
  'next_job',
  'next_job_due_at',
  'are_files_of',
  ...trailFunctions.map(({ name }) => name),
];

interface OwnedObject {
  readonly kind: 'TABLE' | 'FUNCTION';
  /** As SQL names it: quoted, and a function with its parameters. */
  readonly name: string;
  readonly owner: string;
}

/**
 * Makes `pasteflow_owner` the owner of all tables and functions of Pasteflow. The owner before becomes
 * a member of `pasteflow_owner`: services that still connect as that user go on working.
 *
 * Does nothing when the role does not exist, or the user of the connection may not give objects to it: then
 * the tables stay with the user who created them, and the rights of the services are the same.
 */
export async function takeOwnership(db: Kysely<Schema>): Promise<void> {
  await withLockRetries(() =>
    db.transaction().execute(async (tx) => {
      await sql`SELECT pg_advisory_xact_lock(hashtext('pasteflow.enforcement'))`.execute(tx);
      const objects = await findForeignObjects(tx);
      if (objects.length === 0 || !(await mayGive(tx))) return;
      await keepOwners(tx, objects);
      await holdOffVacuum(tx, await existingTables(tx));
      for (const { kind, name } of objects)
        await sql.raw(`ALTER ${kind} ${name} OWNER TO ${OWNER_ROLE}`).execute(tx);
    }),
  );
}

/** The objects that belong to another user, with the tables first: a table takes its sequences along. */
async function findForeignObjects(db: Kysely<Schema>): Promise<readonly OwnedObject[]> {
  const tables = [...Object.keys(rights.pasteflow_api), ...untypedTables];
  const { rows } = await sql<OwnedObject>`
    SELECT 'TABLE' AS kind, c.oid::regclass::text AS name, r.rolname AS owner
    FROM pg_class c JOIN pg_roles r ON r.oid = c.relowner
    WHERE c.relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND r.rolname <> ${OWNER_ROLE}
      AND (relname = ANY (${tables}::text[])
        OR c.oid IN (SELECT relid FROM pg_partition_tree(to_regclass('state_transitions'))))
    UNION ALL
    SELECT 'FUNCTION', p.oid::regprocedure::text, r.rolname
    FROM pg_proc p JOIN pg_roles r ON r.oid = p.proowner
    WHERE p.pronamespace = current_schema()::regnamespace AND r.rolname <> ${OWNER_ROLE}
      AND (proname = ANY (${FUNCTIONS}::text[]) OR proname ~ '^(guard|record)_' AND prorettype = 'trigger'::regtype)
    ORDER BY 1 DESC, 2`.execute(db);
  return rows;
}

/** The names of Pasteflow's tables that the database has. */
export async function existingTables(db: Kysely<Schema>): Promise<readonly string[]> {
  const tables = [...Object.keys(rights.pasteflow_api), ...untypedTables];
  const { rows } = await sql<{ name: string }>`
    SELECT name FROM unnest(${tables}::text[]) AS name WHERE to_regclass(quote_ident(name)) IS NOT NULL`.execute(
    db,
  );
  return rows.map(({ name }) => name);
}

/**
 * ALTER … OWNER asks for both: the user is a member of the new owner, who may create objects in the schema.
 */
async function mayGive(db: Kysely<Schema>): Promise<boolean> {
  const { rows } = await sql<{ may: boolean }>`
    SELECT pg_has_role(current_user, oid, 'MEMBER') AND has_schema_privilege(oid, current_schema(), 'CREATE') AS may
    FROM pg_roles WHERE rolname = ${OWNER_ROLE}`.execute(db);
  return rows[0]?.may === true;
}

async function keepOwners(db: Kysely<Schema>, objects: readonly OwnedObject[]): Promise<void> {
  const user = await readCurrentUser(db);
  if (!user.mayCreateRoles) return;
  const { rows } = await sql<{ name: string }>`
    SELECT rolname AS name FROM pg_roles
    WHERE rolname = ANY (${[...new Set(objects.map(({ owner }) => owner))]}::text[]) AND NOT pg_has_role(oid, ${OWNER_ROLE}, 'USAGE')`.execute(
    db,
  );
  for (const { name } of rows) await sql`GRANT ${sql.id(OWNER_ROLE)} TO ${sql.id(name)}`.execute(db);
}
