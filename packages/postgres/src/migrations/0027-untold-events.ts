import { sql, type Kysely } from 'kysely';

/**
 * Counts the events that Postgres has refused: a sequence, which a rollback leaves alone and no damaged block of a
 * table stops. It belongs to the owner of the table from the start: Postgres links no other sequence to a table.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE SEQUENCE untold_events;
    DO $$ BEGIN
      EXECUTE 'ALTER SEQUENCE untold_events OWNER TO ' || (SELECT relowner::regrole FROM pg_class WHERE oid = 'webhook_deliveries'::regclass);
    END $$;
    ALTER SEQUENCE untold_events OWNED BY webhook_deliveries.id;
  `.execute(db);
}
