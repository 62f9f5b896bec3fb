import { sql } from 'kysely';
import type { Database } from '../database/database.ts';

/**
 * Postgres closes the connection of the lock, and with it frees the lock, when the connection has been idle
 * for this time: a janitor that is frozen or disconnected does not keep the others from sweeping. A running
 * janitor pings three times in this time. The limit is below the 10 s for which no message may stay unsent. A
 * running janitor that stalls for longer loses the lock without harm.
 */
const IDLE_SESSION_SECONDS = 5;

/**
 * Runs `sweep` unless another janitor is running the sweep of this name. The lock only saves work: concurrent
 * runs of a sweep are safe, so that losing the lock in the middle (the connection failed) does no harm.
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

/**
 * Releases the lock. A connection that failed has released the lock already, which does not make a successful
 * sweep a failure.
 */
async function release(connection: Database, name: string): Promise<void> {
  try {
    await sql`SELECT pg_advisory_unlock(hashtext('pasteflow.sweep'), hashtext(${name}))`.execute(connection);
    await sql`SET idle_session_timeout = 0`.execute(connection);
  } catch {
    return;
  }
}
