import { sql } from 'kysely';
import { prepared } from '@pasteflow/postgres/interleavings';
import { createDatabase, type Database } from '@pasteflow/postgres';

/** A database with one connection. */
export function openOne(url: string): Database {
  return createDatabase({
    url,
    applicationName: 'interleavings',
    maxConnections: 1,
    onConnectionError: () => {},
  });
}

/** The backend of a transaction. The pool may have replaced the connection since the last one. */
export async function readPid(db: Database): Promise<number> {
  const { rows } = await sql<{ pid: number }>`${prepared}SELECT pg_backend_pid() AS pid`.execute(db);
  return rows[0]!.pid;
}

/** The sessions that each of these sessions waits for. A session that waits for nobody has no entry. */
export async function readBlockers(
  db: Database,
  pids: readonly number[],
): Promise<ReadonlyMap<number, readonly number[]>> {
  const { rows } = await sql<{ pid: number; blockers: number[] }>`${prepared}
    SELECT pid, pg_blocking_pids(pid) AS blockers FROM unnest(${pids}::integer[]) AS pid`.execute(db);
  return new Map(
    rows.filter(({ blockers }) => blockers.length > 0).map(({ pid, blockers }) => [pid, blockers]),
  );
}
