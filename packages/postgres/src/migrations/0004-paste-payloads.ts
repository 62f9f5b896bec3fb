import { sql, type Kysely } from 'kysely';

/**
 * Rows live for seconds: autovacuum looks often. EXTERNAL keeps Postgres from compressing what is read once and dropped.
 * The reference cascades, since a payload without its paste is nobody's.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE paste_payloads (
      paste_id uuid PRIMARY KEY REFERENCES pastes (id) ON DELETE CASCADE,
      content bytea NOT NULL
    ) WITH (autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 1000, toast.autovacuum_vacuum_scale_factor = 0.0,
            toast.autovacuum_vacuum_threshold = 5000)`.execute(db);
  await sql`ALTER TABLE paste_payloads ALTER COLUMN content SET STORAGE EXTERNAL`.execute(db);
}
