import { sql, type Kysely } from 'kysely';
import { lockAtOnce } from './lock-at-once.ts';

/**
 * `pastes.burn` says that a paste is deleted when it is read, and `pastes.burned_at` when that was. The watchdog may release the claim of
 * the reveal, but never clears `burned_at`, so that the paste stays unreadable (docs/adr/0047-burn-after-reading.md).
 *
 * A column with a constant default rewrites nothing, and NOT VALID reads no row: no row has a value yet.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await lockAtOnce(db, ['pastes']);
  await sql`
    ALTER TABLE pastes ADD COLUMN burn boolean NOT NULL DEFAULT false, ADD COLUMN burned_at timestamptz,
      ADD CONSTRAINT pastes_burned_expires CHECK (burned_at IS NULL OR (burn AND expires_at IS NOT NULL)) NOT VALID`.execute(
    db,
  );
}
