import { sql, type Kysely } from 'kysely';

/**
 * `pastes.parent` is the short code of the paste that this one was made from. It is a text without a foreign key: the parent expires, is
 * deleted and is removed as any other paste, and a retry gives its code a new row.
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
    ALTER TABLE pastes ADD COLUMN parent text COLLATE "C",
      ADD CONSTRAINT pastes_parent CHECK (parent ~ '^[0-9A-Za-z]{1,32}$') NOT VALID`.execute(db);
}
