import { sql, type Kysely } from 'kysely';

/**
 * `job_has_assets` is VOLATILE, so that it looks with a snapshot of its own: a settlement calls it once it has the lock that an asset is
 * made under, and sees what its own snapshot, taken before it waited for that lock, does not. Without `enable_seqscan = off` its plan, which
 * is made for any job, reads the whole table for a job without assets where one job has most of them: 3,300 pages at 50,000 assets.
 * The index of what wants a message gets the kind in front, or the relay would read a backlog of 100,000 uploads to find one job.
 *
 * `position` is the entry of its job's input that an asset was made of: a job that is taken over sees by it what is done already, and
 * makes nothing twice. The indexes on jobs are the orders that an owner's list is read in, and the order that the `jobs` sweep removes in.
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
