import { sql, type Kysely } from 'kysely';

/**
 * The ids of the executions of the FAILED paste, whose rows go with it: the timeline of the paste that
 * replaced it finds their transitions by these ids.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE paste_retries ADD COLUMN execution_ids uuid[] NOT NULL DEFAULT '{}'`.execute(db);
}
