import { sql, type Kysely } from 'kysely';

/**
 * The turns of jobs: see docs/adr/0025-jobs-take-turns.md. An execution with `turn` NULL is a further attempt, or comes from a version
 * without turns, and doesn't wait behind others. `user_id` is set for the executions of jobs.
 *
 * The indexes contain only open executions of jobs. `task_executions_turns` serves the claim, `task_executions_unsent_turns` the claims
 * that come before their stamp, `task_executions_open_jobs` the cap on open jobs.
 *
 * `take_job_turn` returns the turn of a new job, or NULL when the user has `max_open` open jobs. The advisory lock lets the creations of
 * one user follow each other until their commit, so the count is exact. The function is VOLATILE: after the lock, each of its queries
 * sees what the holder before has committed.
 *
 * `next_job` returns the due execution with the lowest turn, of those with a message and locked, or of those without one and not locked.
 * `next_job_due_at` returns when the first of the waiting executions with a message is due, of the thousand with the lowest turns.
 *
 * Sorting and scans of the table are off in these functions. The statistics can call an index nearly empty that has 100,000 entries, and
 * the planner then reads all waiting executions and sorts them.
 *
 * `imported_bytes` has a row for each batch of an import, for an hour.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE task_executions ADD COLUMN user_id uuid, ADD COLUMN turn bigint`.execute(db);
  await sql`
    WITH waiting AS (
      SELECT e.id, j.user_id, e.status, e.attempt, row_number() OVER (PARTITION BY j.user_id ORDER BY e.id) AS turn
      FROM task_executions e JOIN jobs j ON j.id = e.subject_id
      WHERE e.kind = 'job' AND e.status IN ('PENDING', 'RUNNING')
    )
    UPDATE task_executions e
    SET user_id = waiting.user_id, turn = CASE WHEN waiting.status = 'PENDING' AND waiting.attempt = 1 THEN waiting.turn END
    FROM waiting WHERE e.id = waiting.id`.execute(db);
  await sql`CREATE INDEX task_executions_turns ON task_executions (turn NULLS FIRST, id)
    WHERE kind = 'job' AND status = 'PENDING' AND dispatched_at IS NOT NULL`.execute(db);
  await sql`CREATE INDEX task_executions_unsent_turns ON task_executions (turn NULLS FIRST, id)
    WHERE kind = 'job' AND status = 'PENDING' AND dispatched_at IS NULL`.execute(db);
  await sql`CREATE INDEX task_executions_open_jobs ON task_executions (user_id, turn DESC NULLS LAST)
    WHERE kind = 'job' AND status IN ('PENDING', 'RUNNING')`.execute(db);
  await sql`
    CREATE FUNCTION take_job_turn(job_user uuid, max_open integer) RETURNS bigint LANGUAGE plpgsql VOLATILE
      SET enable_seqscan = off SET enable_sort = off SET enable_bitmapscan = off AS $$
    DECLARE
      open_jobs integer;
      last_of_user bigint;
      current bigint;
    BEGIN
      PERFORM pg_advisory_xact_lock(hashtext('pasteflow.jobs'), hashtext(job_user::text));
      IF max_open IS NOT NULL THEN
        SELECT count(*) INTO open_jobs FROM (
          SELECT FROM task_executions
          WHERE kind = 'job' AND status IN ('PENDING', 'RUNNING') AND user_id = job_user LIMIT max_open
        ) AS counted;
        IF open_jobs >= max_open THEN RETURN NULL; END IF;
      END IF;
      SELECT turn INTO last_of_user FROM task_executions
        WHERE kind = 'job' AND status IN ('PENDING', 'RUNNING') AND user_id = job_user AND turn IS NOT NULL
        ORDER BY turn DESC NULLS LAST LIMIT 1;
      SELECT least(
        (SELECT turn FROM task_executions WHERE kind = 'job' AND status = 'PENDING' AND dispatched_at IS NOT NULL AND turn IS NOT NULL
          ORDER BY turn NULLS FIRST LIMIT 1),
        (SELECT turn FROM task_executions WHERE kind = 'job' AND status = 'PENDING' AND dispatched_at IS NULL AND turn IS NOT NULL
          ORDER BY turn NULLS FIRST LIMIT 1)) INTO current;
      IF current IS NULL THEN
        SELECT max(turn) INTO current FROM task_executions WHERE kind = 'job' AND status = 'RUNNING';
      END IF;
      RETURN greatest(current, last_of_user + 1, 0);
    END $$`.execute(db);
  const due = (stamp: string) =>
    sql.raw(`
      SELECT e.id INTO found FROM task_executions e
        WHERE e.kind = 'job' AND e.status = 'PENDING' AND e.dispatched_at ${stamp} AND e.run_at <= now()
          AND EXISTS (SELECT FROM jobs j WHERE j.id = e.subject_id)
        ORDER BY e.turn NULLS FIRST, e.id LIMIT 1`);
  await sql`
    CREATE FUNCTION next_job(stamped boolean) RETURNS uuid LANGUAGE plpgsql VOLATILE
      SET enable_seqscan = off SET enable_sort = off SET enable_bitmapscan = off SET enable_hashjoin = off AS $$
    DECLARE
      found uuid;
    BEGIN
      IF stamped THEN ${due('IS NOT NULL')} FOR UPDATE OF e SKIP LOCKED;
      ELSE ${due('IS NULL')};
      END IF;
      RETURN found;
    END $$`.execute(db);
  await sql`
    CREATE FUNCTION next_job_due_at() RETURNS timestamptz LANGUAGE sql VOLATILE
      SET enable_seqscan = off SET enable_sort = off SET enable_bitmapscan = off AS $$
      SELECT min(run_at) FROM (
        SELECT run_at FROM task_executions WHERE kind = 'job' AND status = 'PENDING' AND dispatched_at IS NOT NULL
        ORDER BY turn NULLS FIRST, id LIMIT 1000
      ) AS waiting
    $$`.execute(db);
  await sql`
    CREATE TABLE imported_bytes (
      user_id uuid NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      bytes bigint NOT NULL
    )`.execute(db);
  await sql`CREATE INDEX imported_bytes_of_user ON imported_bytes (user_id, created_at)`.execute(db);
  await sql`CREATE INDEX imported_bytes_by_age ON imported_bytes (created_at)`.execute(db);
}
