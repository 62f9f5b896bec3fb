import { sql, type Kysely } from 'kysely';
import type { Schema } from '../schema/schema.ts';
import type { Privilege } from './privileges.ts';
import { serviceRoles, type ServiceRole } from './role-names.ts';

/** Those of the services' roles that exist in the cluster. */
export async function existingRoles(db: Kysely<Schema>): Promise<readonly ServiceRole[]> {
  const { rows } = await sql<{ name: ServiceRole }>`
    SELECT rolname AS name FROM pg_roles WHERE rolname = ANY (${[...serviceRoles]}::text[])`.execute(db);
  return rows.map(({ name }) => name);
}

/**
 * Every right that the catalog has for the services' roles on any table, view, sequence or owner's function of
 * the schema, and for PUBLIC on those of the owner of `pastes`. One statement, whose cost does not depend on the
 * size of the tables.
 */
export async function readPrivileges(db: Kysely<Schema>): Promise<readonly Privilege[]> {
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
