import { sql, type Kysely } from 'kysely';
import { lockAtOnce } from './lock-at-once.ts';

/**
 * Compresses the contents in `paste_payloads`, which makes a paste of 2 KB of text add 0.9 KB less to the WAL. The setting applies to new rows
 * of more than 2,032 bytes: Postgres never compresses shorter ones. A content that doesn't become smaller is stored as it is.
 *
 * MAIN compresses a content before it may be moved out of its row, and moves out only what doesn't fit in a page (8 KB). Postgres
 * compresses rows that are longer than `toast_tuple_target`, so that the least target makes it try each row.
 *
 * lz4 costs no CPU time that could be measured. A Postgres that was built without it uses its own pglz. See
 * docs/adr/0055-payloads-are-compressed-by-postgres.md.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await lockAtOnce(db, ['paste_payloads']);
  await sql`ALTER TABLE paste_payloads ALTER COLUMN content SET STORAGE MAIN`.execute(db);
  await sql`ALTER TABLE paste_payloads SET (toast_tuple_target = 128)`.execute(db);
  await sql`
    DO $$ BEGIN
      ALTER TABLE paste_payloads ALTER COLUMN content SET COMPRESSION lz4;
    EXCEPTION WHEN feature_not_supported THEN
      ALTER TABLE paste_payloads ALTER COLUMN content SET COMPRESSION pglz;
    END $$`.execute(db);
}
