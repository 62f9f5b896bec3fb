import { sql, type Kysely } from 'kysely';
import { lockAtOnce } from './lock-at-once.ts';

/**
 * `pastes.stored_encoding` says how the object of a paste is compressed, and is NULL for one that is not: so are all objects that were
 * stored before. See docs/adr/0050-contents-are-stored-as-gzip.md.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await lockAtOnce(db, ['pastes']);
  // NOT VALID: no row has a value yet, and a check of all rows would hold the lock for as long as it reads them.
  await sql`
    ALTER TABLE pastes ADD COLUMN stored_encoding text,
      ADD CONSTRAINT pastes_stored_encoding CHECK (stored_encoding = 'gzip') NOT VALID,
      ADD CONSTRAINT pastes_encoded_is_processed CHECK (stored_encoding IS NULL OR status = 'PROCESSED') NOT VALID`.execute(
    db,
  );
}
