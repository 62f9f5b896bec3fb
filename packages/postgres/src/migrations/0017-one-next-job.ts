import { sql, type Kysely } from 'kysely';

/** Removes a view that no service reads, and the second copy of the choice of the next job. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    DROP VIEW zombie_executions;

    -- The due execution with the lowest turn, without the jobs of paused types: of those with a message and locked, or of those
    -- without one and not locked.
    CREATE OR REPLACE FUNCTION next_job(stamped boolean, paused text[]) RETURNS uuid LANGUAGE plpgsql VOLATILE
      SET enable_seqscan = off SET enable_sort = off SET enable_bitmapscan = off SET enable_hashjoin = off AS $$
    DECLARE
      found uuid;
    BEGIN
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

    -- Workers of release 0.1.0 call this one.
    CREATE OR REPLACE FUNCTION next_job(stamped boolean) RETURNS uuid LANGUAGE plpgsql VOLATILE AS $$
    BEGIN
      RETURN next_job(stamped, '{}');
    END $$;
  `.execute(db);
}
