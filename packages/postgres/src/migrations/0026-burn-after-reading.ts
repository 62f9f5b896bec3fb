import { sql, type Kysely } from 'kysely';

/**
 * `pastes.burn` says that a paste is deleted when it is read, and `pastes.burned_at` when that was. The watchdog may release the claim of
 * the reveal, but never clears `burned_at`, so that the paste stays unreadable (docs/adr/0047-burn-after-reading.md).
 *
 * A column with a constant default rewrites nothing, and NOT VALID reads no row: no row has a value yet.
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
  await sql`
    ALTER TABLE pastes ADD COLUMN burn boolean NOT NULL DEFAULT false, ADD COLUMN burned_at timestamptz,
      ADD CONSTRAINT pastes_burned_expires CHECK (burned_at IS NULL OR (burn AND expires_at IS NOT NULL)) NOT VALID`.execute(
    db,
  );
}
