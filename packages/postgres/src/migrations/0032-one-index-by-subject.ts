import { sql, type Kysely } from 'kysely';

/**
 * `task_executions_of_subject` does the work of two indexes: it finds the executions of a paste or a job, and it allows at most one open
 * execution for each. Its second column is NULL for an execution that has ended, and NULLs are distinct. The claim and the settlement of an
 * upload change indexed columns, so that each index costs an entry each time: 150 bytes of WAL less for each paste. See
 * docs/adr/0057-one-index-finds-executions-by-subject.md.
 *
 * The statement of an earlier janitor that rescues stranded work names the index that is gone, and fails until the new janitor runs.
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
  await sql`CREATE UNIQUE INDEX IF NOT EXISTS task_executions_of_subject
    ON task_executions (subject_id, (CASE WHEN finished_at IS NULL THEN kind END))`.execute(db);
  await sql`DROP INDEX task_executions_open`.execute(db);
  await sql`DROP INDEX task_executions_subject`.execute(db);
}

/**
 * Builds the index of a table with rows while services write to it: within the migration their statements would wait for longer than a lease.
 * CONCURRENTLY waits for the end of all older transactions, so that the second of two processes must not wait for the first in one statement.
 * A build that was cut off leaves an index that is not valid.
 */
export async function before(db: Kysely<unknown>): Promise<void> {
  await db.connection().execute(async (connection) => {
    for (;;) {
      const { rows } = await sql<{ locked: boolean }>`
        SELECT pg_try_advisory_lock(hashtext('pasteflow.indexes')) AS locked`.execute(connection);
      if (rows[0]?.locked === true) break;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    try {
      const { rows } = await sql<{ valid: boolean | null }>`
        SELECT (SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('task_executions_of_subject')) AS valid
        WHERE to_regclass('task_executions') IS NOT NULL`.execute(connection);
      if (rows.length === 0 || rows[0]?.valid === true) return;
      await sql`DROP INDEX CONCURRENTLY IF EXISTS task_executions_of_subject`.execute(connection);
      await sql`CREATE UNIQUE INDEX CONCURRENTLY task_executions_of_subject
        ON task_executions (subject_id, (CASE WHEN finished_at IS NULL THEN kind END))`.execute(connection);
    } finally {
      await sql`SELECT pg_advisory_unlock(hashtext('pasteflow.indexes'))`.execute(connection);
    }
  });
}
