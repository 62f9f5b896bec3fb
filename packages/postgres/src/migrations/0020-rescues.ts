import { sql, type Kysely } from 'kysely';
import { lockAtOnce } from './lock-at-once.ts';

/**
 * `rescued_by` and `rescue_reason` say who inserted an execution for stranded work, and why; they are NULL for
 * all other executions. See docs/adr/0027-stranded-work-is-rescued.md.
 *
 * `has_open_execution` is VOLATILE, so that it reads with a snapshot of its own. The rescue calls it after it
 * has locked the paste or the job, and sees an execution that another rescue has inserted since the rescue's
 * own snapshot was taken.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await lockAtOnce(db, ['task_executions']);
  await sql`ALTER TABLE task_executions ADD COLUMN rescued_by text, ADD COLUMN rescue_reason text`.execute(
    db,
  );
  await sql`
    CREATE FUNCTION has_open_execution(of_kind text, subject uuid) RETURNS boolean LANGUAGE sql VOLATILE AS $$
      SELECT EXISTS (SELECT FROM task_executions
        WHERE kind = of_kind AND subject_id = subject AND status || '' IN ('PENDING', 'RUNNING'))
    $$`.execute(db);
}
