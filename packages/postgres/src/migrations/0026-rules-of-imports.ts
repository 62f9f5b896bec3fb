import { sql, type Kysely } from 'kysely';

/** The rules of the house under which a job was accepted. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // expiry_rules: how long pastes of the job may be kept, {default, max, never}. NULL: no rule, or no import.
  await sql`ALTER TABLE jobs ADD COLUMN expiry_rules jsonb`.execute(db);
}
