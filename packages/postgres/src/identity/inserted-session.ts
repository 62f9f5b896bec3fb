import { sql, type RawBuilder } from 'kysely';
import { good } from './api-tokens.ts';

/**
 * Of those that one token, or the identity provider, has begun: far more than the browsers of a person. A
 * further one ends the oldest of these, so that a token that only reads ends no session of another one.
 */
const MAX_SESSIONS_OF_TOKEN = 100;

export interface SessionToInsert {
  /** The id of the token that signs the browser in; null: an invitation or the identity provider does. */
  readonly signedInBy: string | null;
  readonly byInvitation: boolean;
  /** SHA-256 of the secret in the cookie. */
  readonly secretHash: Buffer;
  /** The session ends earlier when the token expires earlier. */
  readonly lastsSeconds: number;
}

/**
 * The end of a statement with the CTE `owner (id)`: inserts a session of this user, and removes the user's sessions
 * that have ended, so that the rows of a user stay few. A session that another statement has locked is left to the next
 * call.
 */
export function insertedSession(session: SessionToInsert): RawBuilder<unknown> {
  const { signedInBy, byInvitation, secretHash, lastsSeconds } = session;
  return sql`sessions AS (
      SELECT t.id, ${good} AS good, t.signed_in_by IS NOT DISTINCT FROM ${signedInBy}::uuid AS is_alike,
        row_number() OVER (PARTITION BY t.signed_in_by ORDER BY ${good} DESC, t.created_at DESC, t.id DESC) AS place
      FROM owner JOIN api_tokens t ON t.user_id = owner.id WHERE is_session
    ), spare AS MATERIALIZED (
      SELECT id FROM api_tokens
      WHERE id IN (SELECT id FROM sessions WHERE NOT good OR is_alike AND place >= ${MAX_SESSIONS_OF_TOKEN})
      FOR UPDATE SKIP LOCKED
    ), removed AS (
      DELETE FROM api_tokens t USING spare WHERE t.id = spare.id
    )
    INSERT INTO api_tokens (user_id, name, token_hash, is_session, signed_in_by, by_invitation, expires_at)
    SELECT owner.id, 'browser session', ${secretHash}::bytea, true, ${signedInBy}::uuid, ${byInvitation}::boolean,
      least(now() + make_interval(secs => ${lastsSeconds}),
        (SELECT expires_at FROM api_tokens WHERE id = ${signedInBy}::uuid))
    FROM owner`;
}
