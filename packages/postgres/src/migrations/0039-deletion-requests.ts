import { sql, type Kysely } from 'kysely';
import { lockAtOnce } from './lock-at-once.ts';

/**
 * `pastes.deletion_requested_at` says that the user, an operator or a reader of a paste that is deleted when it is read has ended the paste.
 * Until then a deletion moved `expires_at` to the present, and a clock that stepped back brought the paste back.
 *
 * `pastes_due` has what the cleanup claims, whatever the clock says of the requests: these come first.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await lockAtOnce(db, ['pastes']);
  await sql`ALTER TABLE pastes ADD COLUMN deletion_requested_at timestamptz`.execute(db);
  await sql`UPDATE pastes SET deletion_requested_at = least(expires_at, now())
    WHERE taken_down_for IS NOT NULL OR burned_at IS NOT NULL`.execute(db);
  await sql`
    ALTER TABLE pastes
      DROP CONSTRAINT pastes_taken_down_expires,
      ADD CONSTRAINT pastes_taken_down_is_deleted CHECK (taken_down_for IS NULL OR deletion_requested_at IS NOT NULL),
      DROP CONSTRAINT pastes_burned_expires,
      ADD CONSTRAINT pastes_burned_is_deleted CHECK (burned_at IS NULL OR (burn AND deletion_requested_at IS NOT NULL))`.execute(
    db,
  );
  await sql`DROP INDEX pastes_expiry`.execute(db);
  await sql`
    CREATE INDEX pastes_due ON pastes ((CASE WHEN deletion_requested_at IS NULL THEN expires_at ELSE '-infinity' END), id)
    WHERE deletion_initiated_at IS NULL AND (CASE WHEN deletion_requested_at IS NULL THEN expires_at ELSE '-infinity' END) IS NOT NULL`.execute(
    db,
  );
}
