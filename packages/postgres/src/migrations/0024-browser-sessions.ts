import { sql, type Kysely } from 'kysely';
import { lockAtOnce } from './lock-at-once.ts';

/**
 * A token with `is_session` was made for one browser, when the identity provider signed its user in. It ends when the browser signs out,
 * which must not end a token that the user's programs have as well. See
 * docs/adr/0046-the-identity-provider-signs-browsers-in.md.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  // Each request with a token reads the table: a lock that waits for long would hold up all of them.
  await lockAtOnce(db, ['api_tokens']);
  await sql`ALTER TABLE api_tokens ADD COLUMN is_session boolean NOT NULL DEFAULT false`.execute(db);
}
