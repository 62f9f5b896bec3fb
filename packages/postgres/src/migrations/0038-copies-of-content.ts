import { sql, type Kysely } from 'kysely';

/**
 * `jobs.payload` has the parameters of a job that are content of pastes. No view shows the payload, and the statement that ends the job
 * deletes it: the CHECK refuses an end that keeps it.
 *
 * `content_blocks.older` has the codes of the pastes that had the content before the block, so that a block that is repeated after a kill
 * takes down none of them.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    ALTER TABLE jobs ADD COLUMN payload jsonb,
      ADD CONSTRAINT jobs_payload_until_end CHECK (payload IS NULL OR completed_at IS NULL)`.execute(db);
  await sql`
    UPDATE jobs SET parameters = parameters - 'items',
      payload = CASE WHEN completed_at IS NULL THEN jsonb_build_object('items', parameters -> 'items') END
    WHERE parameters ? 'items'`.execute(db);
  await sql`ALTER TABLE content_blocks ADD COLUMN older text[] COLLATE "C" NOT NULL DEFAULT '{}'`.execute(db);
}
