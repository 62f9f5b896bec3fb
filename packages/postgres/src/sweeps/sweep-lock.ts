import { sql } from 'kysely';
import type { Database } from '../database/database.ts';

/**
 * The lock's connection is closed by Postgres when it has been idle for this long, and so its lock is freed: a janitor that is
 * frozen, or cut off, doesn't keep the others from sweeping. A live one pings three times as often. Below the 10 s for which no message
 * may stay unsent; a live janitor that stalls for as long loses a lock that it can do without.
 */
const IDLE_SESSION_SECONDS = 5;

/**
 * Runs `sweep` if no other janitor is running the sweep of this name, else doesn't. The lock only saves work: each sweep is safe beside
 * itself, so that losing the lock half-way (the connection died) does no harm.
 * @returns null when another janitor has the lock
 */
export async function withSweepLock<T>(
  db: Database,
  name: string,
  sweep: () => Promise<T>,
  idleSessionSeconds = IDLE_SESSION_SECONDS,
): Promise<T | null> {
  return db.connection().execute(async (connection) => {
    await sql`SET idle_session_timeout = ${sql.lit(`${Math.round(idleSessionSeconds * 1000)}ms`)}`.execute(
      connection,
    );
    const { rows } = await sql<{ locked: boolean }>`
      SELECT pg_try_advisory_lock(hashtext('pasteflow.sweep'), hashtext(${name})) AS locked`.execute(
      connection,
    );
    if (rows[0]?.locked !== true) {
      await sql`SET idle_session_timeout = 0`.execute(connection);
      return null;
    }
    const beat = () => void sql`SELECT 1`.execute(connection).catch(() => clearInterval(ping));
    const ping = setInterval(beat, (idleSessionSeconds * 1000) / 3);
    try {
      return await sweep();
    } finally {
      clearInterval(ping);
      await release(connection, name);
    }
  });
}

/** A connection that is gone has let go of its lock already: that is no reason to call a sweep that went well a failure. */
async function release(connection: Database, name: string): Promise<void> {
  try {
    await sql`SELECT pg_advisory_unlock(hashtext('pasteflow.sweep'), hashtext(${name}))`.execute(connection);
    await sql`SET idle_session_timeout = 0`.execute(connection);
  } catch {
    return;
  }
}
