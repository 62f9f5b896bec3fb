import { sql, type Kysely } from 'kysely';

/**
 * `job_has_assets` is VOLATILE, so that it reads with a snapshot of its own. A settlement calls it after it
 * has taken the lock that assets are created under, and sees assets that its own snapshot, taken before it
 * waited for the lock, does not contain. Without `enable_seqscan = off`, the generic plan reads the whole
 * table for a job without assets when one job has most of the assets: 3,300 pages at 50,000 assets.
 *
 * The index for the relay starts with the kind: otherwise the relay would read a backlog of 100,000 uploads
 * to find one job.
 *
 * `position` is the entry of the input that an asset was made from. The next attempt at a job skips the
 * entries that are done. The indexes on jobs have the orders of the lists, and the order in which the `jobs`
 * sweep removes jobs.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE assets (
      id uuid PRIMARY KEY DEFAULT uuid_v7(),
      job_id uuid NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
      user_id uuid NOT NULL REFERENCES users (id),
      asset_type text NOT NULL,
      url text NOT NULL,
      storage_path text NOT NULL,
      file_size bigint NOT NULL CHECK (file_size >= 0),
      position integer CHECK (position >= 0),
      created_at timestamptz NOT NULL DEFAULT now()
    )`.execute(db);
  await sql`CREATE INDEX assets_job ON assets (job_id, created_at, id)`.execute(db);
  await sql`CREATE UNIQUE INDEX assets_position ON assets (job_id, position) WHERE position IS NOT NULL`.execute(
    db,
  );
  await sql`CREATE INDEX jobs_owner ON jobs (user_id, created_at, id)`.execute(db);
  await sql`CREATE INDEX jobs_owner_status ON jobs (user_id, status, created_at, id)`.execute(db);
  await sql`CREATE INDEX jobs_owner_type ON jobs (user_id, job_type, created_at, id)`.execute(db);
  await sql`CREATE INDEX jobs_owner_type_status ON jobs (user_id, job_type, status, created_at, id)`.execute(
    db,
  );
  await sql`CREATE INDEX jobs_completed ON jobs (completed_at, id) WHERE completed_at IS NOT NULL`.execute(
    db,
  );
  await sql`
    CREATE FUNCTION remove_executions_of_jobs() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      DELETE FROM task_executions WHERE kind = 'job' AND subject_id IN (SELECT id FROM old_rows);
      RETURN NULL;
    END $$`.execute(db);
  await sql`
    CREATE TRIGGER remove_executions_of_jobs AFTER DELETE ON jobs REFERENCING OLD TABLE AS old_rows
      FOR EACH STATEMENT EXECUTE FUNCTION remove_executions_of_jobs()`.execute(db);
  await sql`
    CREATE FUNCTION job_has_assets(job uuid) RETURNS boolean LANGUAGE sql VOLATILE SET enable_seqscan = off AS $$
      SELECT EXISTS (SELECT FROM assets WHERE job_id = job)
    $$`.execute(db);
  await sql`DROP INDEX task_executions_dispatch`.execute(db);
  await sql`CREATE INDEX task_executions_dispatch ON task_executions (kind, dispatched_at NULLS FIRST, run_at)
    WHERE status = 'PENDING'`.execute(db);
}
