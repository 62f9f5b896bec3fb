import { sql, type Kysely } from 'kysely';

/** Exports that are a row of archives, and a bound of the open jobs of one type. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    -- number: of an archive, from 1. checkpoint: what is in it, and the place behind which the next one begins.
    -- An index would keep imports from writing while it is built; the fence lets one archive of a job be added at a time.
    ALTER TABLE assets ADD COLUMN number integer CONSTRAINT assets_number CHECK (number >= 1), ADD COLUMN checkpoint jsonb;

    -- As take_job_turn (job_user, max_open), and NULL also when the user has max_of_type open jobs of this type.
    CREATE FUNCTION take_job_turn(job_user uuid, max_open integer, of_type text, max_of_type integer) RETURNS bigint
      LANGUAGE plpgsql VOLATILE AS $$
    BEGIN
      IF max_of_type IS NOT NULL THEN
        PERFORM pg_advisory_xact_lock(hashtext('pasteflow.jobs'), hashtext(job_user::text));
        IF (SELECT count(*) FROM jobs
          WHERE user_id = job_user AND job_type = of_type AND status IN ('queued', 'processing')) >= max_of_type THEN RETURN NULL; END IF;
      END IF;
      RETURN take_job_turn(job_user, max_open);
    END $$;
  `.execute(db);
}
