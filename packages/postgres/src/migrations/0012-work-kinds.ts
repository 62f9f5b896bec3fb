import { sql, type Kysely } from 'kysely';

/** The kinds of work that operators pause, and the retries of jobs. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    -- kind: 'uploads', or a type of jobs, which the workers that run it insert.
    -- resumed_at: when the last pause ended. What waited meanwhile is not overdue before that.
    CREATE TABLE work_kinds (
      kind text COLLATE "C" PRIMARY KEY CHECK (kind <> ''),
      paused_at timestamptz,
      paused_by text,
      pause_reason text CHECK (pause_reason <> ''),
      resumed_at timestamptz,
      CONSTRAINT work_kinds_paused CHECK (num_nulls(paused_at, paused_by, pause_reason) IN (0, 3))
    );
    -- A claim reads one page of it.
    CREATE INDEX work_kinds_paused_now ON work_kinds (kind) WHERE paused_at IS NOT NULL;
    INSERT INTO work_kinds (kind) VALUES ('uploads');

    -- retry_of, retried_as: the job that this one retries, and the one that retries it. A job is retried once.
    -- had_content: it was created with a payload, so that what it was to work on is deleted at its end.
    ALTER TABLE jobs ADD COLUMN retry_of uuid, ADD COLUMN retried_as uuid, ADD COLUMN had_content boolean NOT NULL DEFAULT false;

    -- As next_job (stamped), without the jobs of paused types. It passes over those, one by one.
    CREATE FUNCTION next_job(stamped boolean, paused text[]) RETURNS uuid LANGUAGE plpgsql VOLATILE
      SET enable_seqscan = off SET enable_sort = off SET enable_bitmapscan = off SET enable_hashjoin = off AS $$
    DECLARE
      found uuid;
    BEGIN
      IF cardinality(paused) = 0 THEN RETURN next_job(stamped); END IF;
      IF stamped THEN
        SELECT e.id INTO found FROM task_executions e
          WHERE e.kind = 'job' AND e.status = 'PENDING' AND e.dispatched_at IS NOT NULL AND e.run_at <= now()
            AND EXISTS (SELECT FROM jobs j WHERE j.id = e.subject_id AND j.job_type <> ALL (paused))
          ORDER BY e.turn NULLS FIRST, e.id LIMIT 1 FOR UPDATE OF e SKIP LOCKED;
      ELSE
        SELECT e.id INTO found FROM task_executions e
          WHERE e.kind = 'job' AND e.status = 'PENDING' AND e.dispatched_at IS NULL AND e.run_at <= now()
            AND EXISTS (SELECT FROM jobs j WHERE j.id = e.subject_id AND j.job_type <> ALL (paused))
          ORDER BY e.turn NULLS FIRST, e.id LIMIT 1;
      END IF;
      RETURN found;
    END $$;
  `.execute(db);
}
