import { sql, type Kysely } from 'kysely';
import { lockAtOnce } from './lock-at-once.ts';

/**
 * `signed_in_by` is the API token with which a browser was signed in: its session is good only while the token is. NULL for a browser that
 * the identity provider has signed in. See docs/adr/0040-browsers-are-signed-in-by-a-cookie-with-their-token.md.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await lockAtOnce(db, ['api_tokens']);
  await sql`
    ALTER TABLE api_tokens ADD COLUMN signed_in_by uuid REFERENCES api_tokens (id) ON DELETE CASCADE,
      ADD CONSTRAINT api_tokens_signed_in_by CHECK (signed_in_by IS NULL OR is_session)`.execute(db);
  // For the removal of a token, which removes its sessions.
  await sql`CREATE INDEX api_tokens_sessions ON api_tokens (signed_in_by) WHERE signed_in_by IS NOT NULL`.execute(
    db,
  );
}
