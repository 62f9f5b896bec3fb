import { sql, type Selectable } from 'kysely';
import type { Actor } from '../database/actor.ts';
import type { Database } from '../database/database.ts';
import type { SweepRunsTable } from '../schema/operations.ts';

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
