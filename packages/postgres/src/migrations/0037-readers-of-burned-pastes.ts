import { sql, type Kysely } from 'kysely';
import { lockAtOnce } from './lock-at-once.ts';

/**
 * `pastes.reader_key_hash` is the SHA-256 of the key of the reader whose reveal has claimed the paste. The same reader may repeat the reveal
 * for five minutes (docs/adr/0047-burn-after-reading.md). The function `reveal_paste` gets a parameter, so that the one without goes.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await lockAtOnce(db, ['pastes']);
  // NOT VALID: no row has a value yet, and a check of all rows would hold the lock for as long as it reads them.
  await sql`
    ALTER TABLE pastes ADD COLUMN reader_key_hash bytea,
      ADD CONSTRAINT pastes_reader_key CHECK (reader_key_hash IS NULL OR (burned_at IS NOT NULL AND length(reader_key_hash) = 32)) NOT VALID`.execute(
    db,
  );
  await sql`DROP FUNCTION IF EXISTS reveal_paste(uuid, text, text)`.execute(db);
}
