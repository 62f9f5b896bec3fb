import { sql } from 'kysely';
import type { Database } from '../database/database.ts';

export const snapshotHolderKinds = ['session', 'prepared_transaction', 'slot', 'standby'] as const;

/** What keeps Postgres from removing dead rows; a replication slot also keeps WAL. */
export interface SnapshotHolder {
  readonly kind: (typeof snapshotHolderKinds)[number];
  /** The application name of a session (its user, if it has none) or of a standby; else the name of its own. */
  readonly name: string;
  /** null: no process. */
  readonly pid: number | null;
  /** The transaction, or the place in the WAL, that it keeps. Another one: it has moved on. */
  readonly keeps: string;
}

/**
 * Everything that holds a snapshot at this moment, which most do for milliseconds. A role without rights of
 * its own sees these columns of the sessions of all roles, though not since when they are so. An autovacuum
 * has no user, and holds up no other.
 */
export async function findSnapshotHolders(db: Database): Promise<readonly SnapshotHolder[]> {
  const { rows } = await sql<SnapshotHolder>`
    SELECT * FROM (
      SELECT CASE WHEN sender.pid IS NULL THEN 'session' ELSE 'standby' END AS kind,
        coalesce(nullif(application_name, ''), usename) AS name, session.pid, unnest(ARRAY[backend_xid, backend_xmin])::text AS keeps
      FROM pg_stat_activity session LEFT JOIN pg_stat_get_wal_senders() sender USING (pid)
      WHERE usename IS NOT NULL AND pid <> pg_backend_pid() AND (datname = current_database() OR sender.pid IS NOT NULL)
      UNION ALL
      SELECT 'prepared_transaction', gid, NULL, transaction::text FROM pg_prepared_xacts WHERE database = current_database()
      UNION ALL
      SELECT 'slot', slot_name, active_pid, unnest(ARRAY[xmin::text, catalog_xmin::text, restart_lsn::text]) FROM pg_replication_slots
    ) AS holder WHERE keeps IS NOT NULL`.execute(db);
  return rows;
}
