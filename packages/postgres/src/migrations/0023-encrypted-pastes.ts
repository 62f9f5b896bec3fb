import { sql, type Kysely } from 'kysely';
import { lockAtOnce } from './lock-at-once.ts';

/**
 * `pastes.encrypted`: the content was encrypted by the client, in the format that docs/adr/0049-encrypted-pastes.md names. Such a paste has no title
 * and no language outside of its ciphertext. A default that is constant rewrites no row.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await lockAtOnce(db, ['pastes']);
  // NOT VALID: no row is encrypted yet, and a check of all rows would hold the lock for as long as it reads them.
  await sql`
    ALTER TABLE pastes ADD COLUMN encrypted boolean NOT NULL DEFAULT false,
      ADD CONSTRAINT pastes_encrypted CHECK (NOT encrypted OR num_nonnulls(title, syntax) = 0) NOT VALID`.execute(
    db,
  );
}
