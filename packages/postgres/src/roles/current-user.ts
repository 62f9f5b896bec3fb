import { sql, type Kysely } from 'kysely';
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
