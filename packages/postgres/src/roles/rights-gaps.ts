import { sql, type Kysely } from 'kysely';
import type { Schema } from '../schema/schema.ts';
import { describePrivilege, privilegesOf, type Privilege } from './privileges.ts';
import { existingRoles, readPrivileges } from './read-privileges.ts';
import { serviceRoles } from './role-names.ts';

export interface PrivilegeDifference {
  /** Granted by rights.ts, and missing in the database. */
  readonly missing: readonly Privilege[];
  /** In the database, and not in rights.ts. */
  readonly excess: readonly Privilege[];
}

/** Compares the rights in the database with rights.ts. A role that does not exist has no rights and lacks none. */
export async function comparePrivileges(db: Kysely<Schema>): Promise<PrivilegeDifference> {
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
 * @returns what is missing or too much, e.g. `too much: pasteflow_api: DELETE ON pastes`; empty when all is right
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
