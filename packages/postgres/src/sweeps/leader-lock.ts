import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Database } from '../database/database.ts';

export interface LeaderLockOptions {
  /**
   * Postgres closes the connection of the lock, and with it frees the lock, when the connection has been idle
   * for this time: a janitor that is frozen or disconnected does not keep the others from sweeping. A running
   * janitor asks three times in this time.
   */
  readonly idleSeconds: number;
  readonly signal: AbortSignal;
  /** Called when this process gets the lock, and when it loses it. */
  readonly onChange: (leads: boolean) => void;
}

/**
 * Asks for the lock of the janitor that leads, and then holds it, until the signal is aborted. The lock only
 * saves work: sweeps may run in several janitors at once, so that losing the lock does no harm.
 * @throws when the connection fails; the lock is lost then
 */
export async function holdLeaderLock(
  db: Database,
  { idleSeconds, signal, onChange }: LeaderLockOptions,
): Promise<void> {
  await db.connection().execute(async (connection) => {
    let leads = false;
    try {
      await setIdleTimeout(connection, idleSeconds * 1000);
      while (!signal.aborted) {
        if (leads) await sql`SELECT 1`.execute(connection);
        else leads = await tryLock(connection);
        if (leads) onChange(true);
        await wait((idleSeconds * 1000) / 3, undefined, { signal }).catch(() => {});
      }
    } finally {
      onChange(false);
      // A connection that failed has released the lock already.
      await sql`SELECT pg_advisory_unlock_all()`.execute(connection).catch(() => {});
      await setIdleTimeout(connection, 0).catch(() => {});
    }
  });
}

async function tryLock(connection: Database): Promise<boolean> {
  const { rows } = await sql<{ locked: boolean }>`
    SELECT pg_try_advisory_lock(hashtext('pasteflow.sweep'), hashtext('leader')) AS locked`.execute(
    connection,
  );
  return rows[0]?.locked === true;
}

async function setIdleTimeout(connection: Database, ms: number): Promise<void> {
  await sql`SET idle_session_timeout = ${sql.lit(`${Math.round(ms)}ms`)}`.execute(connection);
}
