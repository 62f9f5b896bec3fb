import { sql, type Kysely } from 'kysely';

/**
 * Counts the bytes of all new pastes in `rate_limits`, those of imports included. A counter of bytes can exceed 32 bits. The table
 * `imported_bytes` stays empty and without rights: to drop it would make another process fail that migrates and lists the tables meanwhile.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE rate_limits ALTER COLUMN points TYPE bigint`.execute(db);
  await sql`TRUNCATE imported_bytes`.execute(db);
}
