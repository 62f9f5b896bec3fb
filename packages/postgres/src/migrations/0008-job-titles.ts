import { sql, type Kysely } from 'kysely';

/** The title of a job, which its client gives, such as the name of the file of an import. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE jobs ADD COLUMN title text`.execute(db);
}
