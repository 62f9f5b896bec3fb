import { sql, type Selectable } from 'kysely';
import type { Actor } from '../database/actor.ts';
import type { Database } from '../database/database.ts';
import type { SweepRunsTable } from '../schema/operations.ts';
import { setTimeout as wait } from 'node:timers/promises';

export interface EndedSweepRun {
  readonly sweep: string;
  readonly outcome: SweepRunsTable['outcome'];
  readonly seconds: number;
  readonly counts: Readonly<Record<string, number>>;
  /** Default: none. */
  readonly refused?: SweepRun['refused'];
  readonly janitor: Actor;
}

export type SweepRun = Readonly<Selectable<SweepRunsTable>>;

/** Records a run that has just ended. Replaces the previous run of the sweep. */
export async function recordSweepRun(db: Database, run: EndedSweepRun): Promise<void> {
  await sql`
    INSERT INTO sweep_runs AS last (sweep, started_at, ended_at, outcome, last_success_at, seconds, counts, refused, janitor)
    SELECT ${run.sweep}, now() - make_interval(secs => ${run.seconds}), now(), ${run.outcome},
      CASE WHEN ${run.outcome === 'done'}::boolean THEN now() END, ${run.seconds}::float8, ${JSON.stringify(run.counts)}::jsonb, ${JSON.stringify(run.refused ?? [])}::jsonb, ${run.janitor}
    ON CONFLICT (sweep) DO UPDATE SET started_at = excluded.started_at, ended_at = excluded.ended_at, outcome = excluded.outcome,
      last_success_at = coalesce(excluded.last_success_at, last.last_success_at), seconds = excluded.seconds, counts = excluded.counts,
      refused = excluded.refused, janitor = excluded.janitor`.execute(db);
}

/** The last run of each sweep, whichever janitor ran it. */
export async function readSweepRuns(db: Database): Promise<readonly SweepRun[]> {
  return db.selectFrom('sweep_runs').selectAll().orderBy('sweep').execute();
}

/**
 * Whether the interval has passed since the last successful run of the sweep ended, in any janitor. A sweep
 * that never succeeded is due an interval after the database was first migrated. A time ahead of the clock,
 * which was wrong once, says nothing, so that the sweep is due.
 */
export async function isSweepDue(db: Database, sweep: string, intervalSeconds: number): Promise<boolean> {
  const { rows } = await sql<{ due: boolean }>`
    SELECT since + make_interval(secs => ${intervalSeconds}) <= now() OR since > now() AS due
    FROM (SELECT coalesce((SELECT last_success_at FROM sweep_runs WHERE sweep = ${sweep}), created_at) AS since FROM installation) AS last`.execute(
    db,
  );
  return rows[0]?.due === true;
}

/**
 * Asks for the lock of the janitor that leads, and then holds it, until the signal is aborted. The lock only
 * saves work: sweeps may run in several janitors at once, so that losing the lock does no harm.
 * @throws when the connection fails; the lock is lost then
 */
export async function holdLeaderLock(
  db: Database,
  {
    idleSeconds,
    signal,
    onChange,
  }: {
    /**
     * Postgres closes the connection of the lock, and with it frees the lock, when the connection has been idle
     * for this time: a janitor that is frozen or disconnected does not keep the others from sweeping. A running
     * janitor asks three times in this time.
     */
    readonly idleSeconds: number;
    readonly signal: AbortSignal;
    /** Called when this process gets the lock, and when it loses it. */
    readonly onChange: (leads: boolean) => void;
  },
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
