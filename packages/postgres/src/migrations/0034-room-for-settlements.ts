import { sql, type Kysely } from 'kysely';

/**
 * Leaves half of each new page of `pastes` free, so that the version of a row that its settlement writes fits in the page. With a fifth, the
 * pages were full after half of the settlements, and each of the others wrote an entry into three indexes: 150 to 220 bytes of WAL more for
 * each paste. Rows that exist stay where they are. See docs/adr/0066-pages-of-pastes-have-room-for-settlements.md.
 *
 * Waits for no statement of the services: the lock only conflicts with maintenance of the table. It ends an autovacuum, unless that prevents
 * the wraparound of transaction numbers: then the migration fails after 30 s, and has to be repeated.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`SET LOCAL lock_timeout = '30s'`.execute(db);
  await sql`ALTER TABLE pastes SET (fillfactor = 50)`.execute(db);
  await sql`SET LOCAL lock_timeout TO DEFAULT`.execute(db);
}
