import { sql } from 'kysely';
import type { Database } from './database.ts';

/** What a service logs when the order of texts differs from the one in which indexes were made. */
export const COLLATION_CHANGED =
  'the collation of the database has changed; build its indexes again (docs/runbook.md, "The collation of the operating system has changed")';

interface ChangedCollation {
  readonly collation: string;
  /** The version when the database was made, or refreshed last. */
  readonly recorded: string;
  readonly actual: string;
}

/** null: it has not changed, or has no version. */
export async function findChangedCollation(
  db: Database,
): Promise<(ChangedCollation & Record<string, unknown>) | null> {
  const { rows } = await sql<ChangedCollation & Record<string, unknown>>`
    SELECT datcollate AS collation, datcollversion AS recorded, pg_database_collation_actual_version(oid) AS actual
    FROM pg_database WHERE datname = current_database() AND datcollversion <> pg_database_collation_actual_version(oid)`.execute(
    db,
  );
  return rows[0] ?? null;
}
