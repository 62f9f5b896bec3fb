import { sql, type Kysely } from 'kysely';
import { lockAtOnce } from './lock-at-once.ts';

/**
 * `pastes.parent` is the short code of the paste that this one was made from. It is a text without a foreign key: the parent expires, is
 * deleted and is removed as any other paste, and a retry gives its code a new row.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await lockAtOnce(db, ['pastes']);
  // NOT VALID: no row has a value yet, and a check of all rows would hold the lock for as long as it reads them.
  await sql`
    ALTER TABLE pastes ADD COLUMN parent text COLLATE "C",
      ADD CONSTRAINT pastes_parent CHECK (parent ~ '^[0-9A-Za-z]{1,32}$') NOT VALID`.execute(db);
}
