import { sql, type Kysely } from 'kysely';

/**
 * `task_executions_open` allows at most one open execution for each paste or job. `task_executions_dispatch`
 * serves the relay (executions without a message first), `task_executions_leases` the reaper. Both contain
 * only open executions, so that their cost does not grow with the table.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE task_executions (
      id uuid PRIMARY KEY DEFAULT uuid_v7(),
      kind varchar(20) NOT NULL CHECK (kind IN ('upload', 'job')),
      subject_id uuid NOT NULL,
      attempt integer NOT NULL CHECK (attempt >= 1),
      status varchar(20) NOT NULL DEFAULT 'PENDING',
      run_at timestamptz NOT NULL DEFAULT now(),
      dispatched_at timestamptz,
      worker_id text,
      lease_expires_at timestamptz,
      created_at timestamptz NOT NULL DEFAULT now(),
      started_at timestamptz,
      finished_at timestamptz,
      error text,
      CONSTRAINT task_executions_started CHECK ((status = 'PENDING') = (started_at IS NULL)),
      CONSTRAINT task_executions_owned CHECK ((status = 'PENDING') = (worker_id IS NULL)),
      CONSTRAINT task_executions_leased CHECK ((status = 'RUNNING') = (lease_expires_at IS NOT NULL)),
      CONSTRAINT task_executions_finished CHECK ((status IN ('SUCCEEDED', 'FAILED')) = (finished_at IS NOT NULL)),
      CONSTRAINT task_executions_failed_has_error CHECK ((status = 'FAILED') = (error IS NOT NULL))
    ) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0,
            autovacuum_analyze_threshold = 5000)`.execute(db);
  await sql`CREATE UNIQUE INDEX task_executions_open ON task_executions (subject_id, kind)
    WHERE status IN ('PENDING', 'RUNNING')`.execute(db);
  await sql`CREATE INDEX task_executions_subject ON task_executions (subject_id)`.execute(db);
  await sql`CREATE INDEX task_executions_dispatch ON task_executions (dispatched_at NULLS FIRST, run_at)
    WHERE status = 'PENDING'`.execute(db);
  await sql`CREATE INDEX task_executions_leases ON task_executions (lease_expires_at)
    WHERE status = 'RUNNING'`.execute(db);
  // The subject of an execution is a paste or a job, so that a foreign key is not possible. Without its paste, an execution could never end.
  await sql`
    CREATE FUNCTION remove_executions_of_pastes() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      DELETE FROM task_executions WHERE kind = 'upload' AND subject_id IN (SELECT id FROM old_rows);
      RETURN NULL;
    END $$`.execute(db);
  await sql`
    CREATE TRIGGER remove_executions_of_pastes AFTER DELETE ON pastes REFERENCING OLD TABLE AS old_rows
      FOR EACH STATEMENT EXECUTE FUNCTION remove_executions_of_pastes()`.execute(db);
  await sql`
    CREATE VIEW zombie_executions AS
      SELECT id, kind, subject_id, attempt, worker_id, started_at, lease_expires_at, now() - lease_expires_at AS overdue
      FROM task_executions WHERE status = 'RUNNING' AND lease_expires_at < now()`.execute(db);
}
