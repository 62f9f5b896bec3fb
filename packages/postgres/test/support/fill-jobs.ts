import { sql } from 'kysely';
import type { Database } from '../../src/index.ts';
import { makeUsers } from '../../src/testing/index.ts';

/**
 * Gives a user so many jobs as years leave them, each with its execution, and as many assets to one of them.
 * A fourth are completed imports; half are partial imports, the rest completed exports, so that export and
 * partial never meet. Triggers are off while it fills: only the size of the tables matters here. @returns the
 * job that has the assets
 */
export async function fillJobs(db: Database, userId: string, jobs: number): Promise<string> {
  await db.connection().execute(async (connection) => {
    const statements = [
      sql`SET session_replication_role = replica`,
      sql`SET pasteflow.import = 'on'`,
      sql`
        INSERT INTO jobs (user_id, job_type, status, progress, error_message, created_at, completed_at)
        SELECT ${userId}, CASE WHEN n % 4 = 2 THEN 'export' ELSE 'import' END,
          CASE WHEN n % 2 = 0 THEN 'completed' ELSE 'partial' END, 100, 'why',
          now() - make_interval(secs => n * 0.01), now() - make_interval(secs => n * 0.01)
        FROM generate_series(1, ${jobs}::integer) n`,
      sql`
        INSERT INTO task_executions (kind, subject_id, attempt, status, dispatched_at, worker_id, started_at, finished_at)
        SELECT 'job', id, 1, 'SUCCEEDED', now(), 'w', now(), now() FROM jobs`,
      sql`
        INSERT INTO assets (job_id, user_id, asset_type, url, storage_path, file_size, created_at)
        SELECT job.id, user_id, 'paste', 's3://b/' || n, n, 1, now() - make_interval(secs => n * 0.01)
        FROM (SELECT * FROM jobs ORDER BY id LIMIT 1) AS job, generate_series(1, ${jobs}::integer) n`,
      sql`RESET pasteflow.import`,
      sql`SET session_replication_role = origin`,
    ];
    for (const statement of statements) await statement.execute(connection);
  });
  await sql`VACUUM (ANALYZE) jobs, assets, task_executions`.execute(db);
  const { rows } = await sql<{ id: string }>`SELECT id FROM jobs ORDER BY id LIMIT 1`.execute(db);
  return rows[0]!.id;
}

/** Adds queued jobs with messages and turns, faster than the statistics of the planner follow. */
export async function fillWithWaitingJobs(
  db: Database,
  { users, jobsOfEach }: { users: number; jobsOfEach: number },
): Promise<void> {
  await sql`ALTER TABLE task_executions SET (autovacuum_enabled = off)`.execute(db);
  await sql`ALTER TABLE jobs SET (autovacuum_enabled = off)`.execute(db);
  const owners = await makeUsers(db, users);
  await sql`
    WITH job AS (
      INSERT INTO jobs (user_id, job_type)
      SELECT owner, 'import' FROM unnest(${owners.map(({ id }) => id)}::uuid[]) AS owner, generate_series(1, ${jobsOfEach}::integer)
      RETURNING id, user_id
    )
    INSERT INTO task_executions (kind, subject_id, user_id, turn, attempt, dispatched_at)
    SELECT 'job', id, user_id, row_number() OVER (PARTITION BY user_id), 1, now() FROM job`.execute(db);
}
