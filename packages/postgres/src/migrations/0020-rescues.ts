import { sql, type Kysely } from 'kysely';

/**
 * `rescued_by` and `rescue_reason` say who inserted an execution for stranded work, and why; they are NULL for
 * all other executions. See docs/adr/0027-stranded-work-is-rescued.md.
 *
 * `has_open_execution` is VOLATILE, so that it reads with a snapshot of its own. The rescue calls it after it
 * has locked the paste or the job, and sees an execution that another rescue has inserted since the rescue's
 * own snapshot was taken.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    DO $$ BEGIN
      SET LOCAL lock_timeout = '30s';
      LOCK TABLE task_executions IN SHARE UPDATE EXCLUSIVE MODE;
      SET LOCAL lock_timeout = '300ms';
      FOR tries IN 1..100 LOOP
        BEGIN
          LOCK TABLE task_executions IN ACCESS EXCLUSIVE MODE;
          EXIT;
        EXCEPTION WHEN lock_not_available THEN
          IF tries = 100 THEN RAISE; END IF;
          PERFORM pg_sleep(0.3 * random());
        END;
      END LOOP;
      SET LOCAL lock_timeout TO DEFAULT;
    END $$`.execute(db);
  await sql`ALTER TABLE task_executions ADD COLUMN rescued_by text, ADD COLUMN rescue_reason text`.execute(
    db,
  );
  await sql`
    CREATE FUNCTION has_open_execution(of_kind text, subject uuid) RETURNS boolean LANGUAGE sql VOLATILE AS $$
      SELECT EXISTS (SELECT FROM task_executions
        WHERE kind = of_kind AND subject_id = subject AND status || '' IN ('PENDING', 'RUNNING'))
    $$`.execute(db);
}
