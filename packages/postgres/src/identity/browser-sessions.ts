import { sql } from 'kysely';
import type { Database } from '../database/database.ts';
import { good } from './api-tokens.ts';
import { ensuredUser } from './users.ts';

/** Far more than the browsers of a person. A further session ends the user's oldest one. */
const MAX_SESSIONS_OF_USER = 100;

interface NewBrowserSession {
  /** The user is created when there is none with this name. */
  readonly userName: string;
  /** SHA-256 of the whole token. */
  readonly tokenHash: Buffer;
  readonly lastsSeconds: number;
}

/**
 * Inserts the token of a browser that its user has signed in, and removes the user's sessions that have ended, so that the rows of a user
 * stay few. A session that another statement has locked is left to the next call.
 */
export async function beginBrowserSession(db: Database, session: NewBrowserSession): Promise<void> {
  await sql`
    WITH ${ensuredUser(session.userName)}, sessions AS (
      SELECT id, ${good} AS good, row_number() OVER (ORDER BY ${good} DESC, created_at DESC, id DESC) AS place
      FROM api_tokens WHERE user_id = (SELECT id FROM ensured_user) AND is_session
    ), spare AS MATERIALIZED (
      SELECT id FROM api_tokens
      WHERE id IN (SELECT id FROM sessions WHERE NOT good OR place >= ${MAX_SESSIONS_OF_USER})
      FOR UPDATE SKIP LOCKED
    ), removed AS (
      DELETE FROM api_tokens t USING spare WHERE t.id = spare.id
    )
    INSERT INTO api_tokens (user_id, name, token_hash, expires_at, is_session)
    SELECT id, 'browser session', ${session.tokenHash}::bytea, now() + make_interval(secs => ${session.lastsSeconds}), true
    FROM ensured_user`.execute(db);
}

/** Ends the session with this token. A token that is no session stays good. */
export async function endBrowserSession(db: Database, tokenHash: Buffer): Promise<void> {
  await sql`
    UPDATE api_tokens SET revoked_at = now()
    WHERE token_hash = ${tokenHash} AND is_session AND revoked_at IS NULL`.execute(db);
}
