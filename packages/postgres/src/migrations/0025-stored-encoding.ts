import { sql, type Kysely } from 'kysely';

/**
 * `pastes.stored_encoding` says how the object of a paste is compressed, and is NULL for one that is not: so are all objects that were
 * stored before. See docs/adr/0050-contents-are-stored-as-gzip.md.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    DO $$ BEGIN
      SET LOCAL lock_timeout = '30s';
      LOCK TABLE pastes IN SHARE UPDATE EXCLUSIVE MODE;
      SET LOCAL lock_timeout = '300ms';
      FOR tries IN 1..100 LOOP
        BEGIN
          LOCK TABLE pastes IN ACCESS EXCLUSIVE MODE;
          EXIT;
        EXCEPTION WHEN lock_not_available THEN
          IF tries = 100 THEN RAISE; END IF;
          PERFORM pg_sleep(0.3 * random());
        END;
      END LOOP;
      SET LOCAL lock_timeout TO DEFAULT;
    END $$`.execute(db);
  // NOT VALID: no row has a value yet, and a check of all rows would hold the lock for as long as it reads them.
  await sql`
    ALTER TABLE pastes ADD COLUMN stored_encoding text,
      ADD CONSTRAINT pastes_stored_encoding CHECK (stored_encoding = 'gzip') NOT VALID,
      ADD CONSTRAINT pastes_encoded_is_processed CHECK (stored_encoding IS NULL OR status = 'PROCESSED') NOT VALID`.execute(
    db,
  );
}
