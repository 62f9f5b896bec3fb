import { sql, type Kysely } from 'kysely';
import { buildIndexes } from './build-indexes.ts';
import { lockAtOnce } from './lock-at-once.ts';

/**
 * `task_executions_of_subject` does the work of two indexes: it finds the executions of a paste or a job, and it allows at most one open
 * execution for each. Its second column is NULL for an execution that has ended, and NULLs are distinct. The claim and the settlement of an
 * upload change indexed columns, so that each index costs an entry each time: 150 bytes of WAL less for each paste. See
 * docs/adr/0057-one-index-finds-executions-by-subject.md.
 *
 * The statement of an earlier janitor that rescues stranded work names the index that is gone, and fails until the new janitor runs.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await lockAtOnce(db, ['task_executions']);
  await sql`CREATE UNIQUE INDEX IF NOT EXISTS task_executions_of_subject
    ON task_executions (subject_id, (CASE WHEN finished_at IS NULL THEN kind END))`.execute(db);
  await sql`DROP INDEX task_executions_open`.execute(db);
  await sql`DROP INDEX task_executions_subject`.execute(db);
}

/** Builds the index, unless the database is empty. */
export async function before(db: Kysely<unknown>): Promise<void> {
  await buildIndexes(db, async (connection) => {
    const { rows } = await sql`SELECT WHERE to_regclass('task_executions') IS NOT NULL`.execute(connection);
    const definition = 'ON task_executions (subject_id, (CASE WHEN finished_at IS NULL THEN kind END))';
    return rows.map(() => ({ name: 'task_executions_of_subject', unique: true, definition }));
  });
}
