import { sql, type Kysely } from 'kysely';

/**
 * `pastes.encrypted`: the content was encrypted by the client, in the format that docs/adr/0049-encrypted-pastes.md names. Such a paste has no title
 * and no language outside of its ciphertext. A default that is constant rewrites no row.
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
  // NOT VALID: no row is encrypted yet, and a check of all rows would hold the lock for as long as it reads them.
  await sql`
    ALTER TABLE pastes ADD COLUMN encrypted boolean NOT NULL DEFAULT false,
      ADD CONSTRAINT pastes_encrypted CHECK (NOT encrypted OR num_nonnulls(title, syntax) = 0) NOT VALID`.execute(
    db,
  );
}
