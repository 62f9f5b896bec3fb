import { sql, type Kysely } from 'kysely';

/** Counts the events that Postgres has refused: a sequence, which a rollback leaves alone and no damaged block of a table stops. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`CREATE SEQUENCE untold_events OWNED BY webhook_deliveries.id`.execute(db);
}
