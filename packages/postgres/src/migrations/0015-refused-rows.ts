import { sql, type Kysely } from 'kysely';

/** The rows that Postgres refused to a sweep, as its last run knew them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE sweep_runs ADD COLUMN refused jsonb NOT NULL DEFAULT '[]'`.execute(db);
}
