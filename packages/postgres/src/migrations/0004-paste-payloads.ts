import { sql, type Kysely } from 'kysely';

/**
 * Rows live for seconds, so autovacuum runs often. EXTERNAL prevents compression: the content is read once
 * and deleted. The reference cascades: a payload without its paste has no use.
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
