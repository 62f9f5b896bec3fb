import { sql, type Kysely } from 'kysely';

/** The attempts at uploads and jobs, and whose turn it is. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    -- losses: how often the work was lost (a crashed worker, a dead letter), apart from its attempts.
    -- user_id, turn: of the executions of jobs (ADR 25). turn is NULL for a further attempt, which waits for no other.
    -- rescued_by, rescue_reason: who inserted the execution for stranded work, and why (ADR 27).
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
      losses integer NOT NULL DEFAULT 0 CONSTRAINT task_executions_losses CHECK (losses >= 0),
      user_id uuid,
      turn bigint,
      rescued_by text,
      rescue_reason text,
      CONSTRAINT task_executions_started CHECK ((status = 'PENDING') = (started_at IS NULL)),
      CONSTRAINT task_executions_owned CHECK ((status = 'PENDING') = (worker_id IS NULL)),
      CONSTRAINT task_executions_leased CHECK ((status = 'RUNNING') = (lease_expires_at IS NOT NULL)),
      CONSTRAINT task_executions_finished CHECK ((status IN ('SUCCEEDED', 'FAILED')) = (finished_at IS NOT NULL)),
      CONSTRAINT task_executions_failed_has_error CHECK ((status = 'FAILED') = (error IS NOT NULL))
    ) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0,
            autovacuum_analyze_threshold = 5000);

    -- Finds the executions of a paste or job, and allows one open execution for each: the second column is NULL for one
    -- that has ended, and NULLs are distinct.
    CREATE UNIQUE INDEX task_executions_of_subject ON task_executions (subject_id, (CASE WHEN finished_at IS NULL THEN kind END));
    -- The others have only open executions. The relay's starts with the kind, so that a job is found behind 100,000 uploads.
    CREATE INDEX task_executions_dispatch ON task_executions (kind, dispatched_at NULLS FIRST, run_at) WHERE status = 'PENDING';
    -- Without a state, so that the planner can't take an index of all waiting executions for it.
    CREATE INDEX task_executions_leases ON task_executions (lease_expires_at) WHERE lease_expires_at IS NOT NULL;
    -- Work that was lost more than three times: normally none.
    CREATE INDEX task_executions_lost ON task_executions (kind, losses) WHERE losses > 3 AND finished_at IS NULL;
    -- For the claim of jobs, for claims that come before the stamp of the message, and for the limit on open jobs.
    CREATE INDEX task_executions_turns ON task_executions (turn NULLS FIRST, id)
      WHERE kind = 'job' AND status = 'PENDING' AND dispatched_at IS NOT NULL;
    CREATE INDEX task_executions_unsent_turns ON task_executions (turn NULLS FIRST, id)
      WHERE kind = 'job' AND status = 'PENDING' AND dispatched_at IS NULL;
    CREATE INDEX task_executions_open_jobs ON task_executions (user_id, turn DESC NULLS LAST)
      WHERE kind = 'job' AND status IN ('PENDING', 'RUNNING');

    CREATE VIEW zombie_executions AS
      SELECT id, kind, subject_id, attempt, worker_id, started_at, lease_expires_at, now() - lease_expires_at AS overdue
      FROM task_executions WHERE status = 'RUNNING' AND lease_expires_at < now();

    -- The subject is a paste or a job, so that a foreign key is not possible. Without it, an execution could never end.
    CREATE FUNCTION remove_executions_of_pastes() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      DELETE FROM task_executions WHERE kind = 'upload' AND subject_id IN (SELECT id FROM old_rows);
      RETURN NULL;
    END $$;
    CREATE TRIGGER remove_executions_of_pastes AFTER DELETE ON pastes REFERENCING OLD TABLE AS old_rows
      FOR EACH STATEMENT EXECUTE FUNCTION remove_executions_of_pastes();
    CREATE FUNCTION remove_executions_of_jobs() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      DELETE FROM task_executions WHERE kind = 'job' AND subject_id IN (SELECT id FROM old_rows);
      RETURN NULL;
    END $$;
    CREATE TRIGGER remove_executions_of_jobs AFTER DELETE ON jobs REFERENCING OLD TABLE AS old_rows
      FOR EACH STATEMENT EXECUTE FUNCTION remove_executions_of_jobs();

    -- VOLATILE: the rescue has locked the paste or job, and sees what another rescue committed meanwhile.
    CREATE FUNCTION has_open_execution(of_kind text, subject uuid) RETURNS boolean LANGUAGE sql VOLATILE AS $$
      SELECT EXISTS (SELECT FROM task_executions
        WHERE kind = of_kind AND subject_id = subject AND status || '' IN ('PENDING', 'RUNNING'))
    $$;

    -- Sorting and scans of the table are off in the functions below. The statistics can call an index nearly empty that
    -- has 100,000 entries, and the planner then reads all waiting executions and sorts them.

    -- The turn of a new job, or NULL when the user has max_open open jobs. Creations of one user wait for each other's
    -- commits, so that the count is exact.
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
    END $$;

    -- The due execution with the lowest turn: of those with a message and locked, or of those without one and not locked.
    CREATE FUNCTION next_job(stamped boolean) RETURNS uuid LANGUAGE plpgsql VOLATILE
      SET enable_seqscan = off SET enable_sort = off SET enable_bitmapscan = off SET enable_hashjoin = off AS $$
    DECLARE
      found uuid;
    BEGIN
      IF stamped THEN
        SELECT e.id INTO found FROM task_executions e
          WHERE e.kind = 'job' AND e.status = 'PENDING' AND e.dispatched_at IS NOT NULL AND e.run_at <= now()
            AND EXISTS (SELECT FROM jobs j WHERE j.id = e.subject_id)
          ORDER BY e.turn NULLS FIRST, e.id LIMIT 1 FOR UPDATE OF e SKIP LOCKED;
      ELSE
        SELECT e.id INTO found FROM task_executions e
          WHERE e.kind = 'job' AND e.status = 'PENDING' AND e.dispatched_at IS NULL AND e.run_at <= now()
            AND EXISTS (SELECT FROM jobs j WHERE j.id = e.subject_id)
          ORDER BY e.turn NULLS FIRST, e.id LIMIT 1;
      END IF;
      RETURN found;
    END $$;

    -- When the first of the waiting executions with a message is due, of the thousand with the lowest turns.
    CREATE FUNCTION next_job_due_at() RETURNS timestamptz LANGUAGE sql VOLATILE
      SET enable_seqscan = off SET enable_sort = off SET enable_bitmapscan = off AS $$
      SELECT min(run_at) FROM (
        SELECT run_at FROM task_executions WHERE kind = 'job' AND status = 'PENDING' AND dispatched_at IS NOT NULL
        ORDER BY turn NULLS FIRST, id LIMIT 1000
      ) AS waiting
    $$;
  `.execute(db);
}
