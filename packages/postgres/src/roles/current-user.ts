import { type Kysely, sql } from 'kysely';
import type { Database } from '../database/database.ts';
import type { Schema } from '../schema/schema.ts';

/** What the user of this connection may do with roles, the database and the schema. */
export interface CurrentUser {
  readonly name: string;
  readonly isSuperuser: boolean;
  readonly mayCreateRoles: boolean;
  readonly ownsDatabase: boolean;
  /** The user may grant rights on the schema. */
  readonly ownsSchema: boolean;
  readonly database: string;
  readonly schema: string;
}

export async function readCurrentUser(db: Kysely<Schema>): Promise<CurrentUser> {
  const { rows } = await sql<CurrentUser>`
    SELECT rolname AS name, rolsuper AS "isSuperuser", rolsuper OR rolcreaterole AS "mayCreateRoles",
      current_database() AS database, current_schema() AS schema,
      pg_has_role(current_user, (SELECT datdba FROM pg_database WHERE datname = current_database()), 'USAGE') AS "ownsDatabase",
      pg_has_role(current_user, (SELECT nspowner FROM pg_namespace WHERE nspname = current_schema()), 'USAGE') AS "ownsSchema"
    FROM pg_roles WHERE rolname = current_user`.execute(db);
  const [user] = rows;
  if (user === undefined) throw new Error('readCurrentUser: pg_roles has no row for the current user');
  return user;
}

/** What a service logs when it connects as a user for whom the guards of the database do not hold. */
export const PRIVILEGED_USER =
  'database user may change everything; connect as the role of the service (docs/deploy.md, "Database roles")';

export interface PrivilegedUser {
  readonly database_user: string;
  /** Why the user may do more than a service needs. */
  readonly reason: 'superuser' | 'owner of the tables';
}

/** The user of this connection, if the guards of the database do not hold for that user; null: they hold. */
export async function findPrivilegedUser(
  db: Database,
): Promise<(PrivilegedUser & Record<string, unknown>) | null> {
  const { rows } = await sql<PrivilegedUser & Record<string, unknown>>`
    SELECT rolname AS database_user, CASE WHEN rolsuper THEN 'superuser' ELSE 'owner of the tables' END AS reason
    FROM pg_roles r
    WHERE rolname = current_user AND (rolsuper OR EXISTS (
      SELECT FROM pg_class c WHERE c.oid = to_regclass('pastes') AND pg_has_role(r.oid, c.relowner, 'MEMBER')))`.execute(
    db,
  );
  return rows[0] ?? null;
}
