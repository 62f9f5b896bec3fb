import { sql } from 'kysely';
import type { Database } from '../database/database.ts';

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
