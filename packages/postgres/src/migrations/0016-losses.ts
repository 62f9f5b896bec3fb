import { sql, type Kysely } from 'kysely';
import { lockAtOnce } from './lock-at-once.ts';

/**
 * `losses` counts how often work was lost (a crashed worker, a dead letter), apart from its attempts.
 * `task_executions_lost` has the open executions of work that was lost more than three times: normally none.
 *
 * `failed_payloads` keeps the content of a FAILED paste as long as the row, so that an operator can retry the
 * upload. It is a table of its own because the rows of `paste_payloads` are what counts as IN_PROGRESS.
 *
 * `paste_retries` has a row for each retry: the paste that replaced a FAILED one of the same short code, and
 * the id of the FAILED one, whose row is gone. A paste that was retried several times has several rows.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await lockAtOnce(db, ['pastes', 'task_executions']);
  await sql`
    ALTER TABLE task_executions ADD COLUMN losses integer NOT NULL DEFAULT 0
      CONSTRAINT task_executions_losses CHECK (losses >= 0)`.execute(db);
  await sql`CREATE INDEX task_executions_lost ON task_executions (kind, losses)
    WHERE losses > 3 AND finished_at IS NULL`.execute(db);
  await sql`
    CREATE TABLE failed_payloads (
      paste_id uuid PRIMARY KEY REFERENCES pastes (id) ON DELETE CASCADE,
      content bytea NOT NULL
    )`.execute(db);
  await sql`ALTER TABLE failed_payloads ALTER COLUMN content SET STORAGE EXTERNAL`.execute(db);
  await sql`
    CREATE TABLE paste_retries (
      retried_from uuid PRIMARY KEY,
      paste_id uuid NOT NULL REFERENCES pastes (id) ON DELETE CASCADE,
      created_at timestamptz NOT NULL,
      failed_at timestamptz NOT NULL,
      failure_reason text NOT NULL,
      retried_at timestamptz NOT NULL DEFAULT now(),
      actor text NOT NULL,
      reason text
    )`.execute(db);
  await sql`CREATE INDEX paste_retries_paste ON paste_retries (paste_id)`.execute(db);
}
