import { sql, type RawBuilder } from 'kysely';
import { affectedRows, type Database } from '../database/database.ts';
import { good, revokeEach } from './api-tokens.ts';
import type { Actor } from '../database/actor.ts';
import type { OperatorMay } from '../schema/users.ts';

type NewBrowserSession = Omit<SessionToInsert, 'byInvitation'> & { readonly userId: string };

/** Inserts the session of a browser, unless the user is erased. */
export async function beginBrowserSession(db: Database, session: NewBrowserSession): Promise<void> {
  const { userId, ...inserted } = session;
  await sql`
    WITH owner AS MATERIALIZED (
      SELECT ${userId}::uuid AS id WHERE user_stands(${userId}::uuid)
    ), ${insertedSession({ ...inserted, byInvitation: false })}`.execute(db);
}

interface BrowserSession {
  readonly id: string;
  readonly createdAt: Date;
  /** To the minute; null: never. */
  readonly lastUsedAt: Date | null;
  readonly expiresAt: Date;
  /** The name of the token that signed the browser in; null: none did. */
  readonly tokenName: string | null;
  /** An invitation signed the browser in. Without one and without a token the identity provider did. */
  readonly byInvitation: boolean;
  /** It is the session with the given secret. */
  readonly isThis: boolean;
}

/**
 * The user's sessions that have not ended, newest first.
 * @param secretHash of the session that is to be marked; null: none
 */
export async function listBrowserSessions(
  db: Database,
  { userId, secretHash }: { readonly userId: string; readonly secretHash: Buffer | null },
): Promise<readonly BrowserSession[]> {
  const { rows } = await sql<BrowserSession>`
    SELECT t.id, t.created_at AS "createdAt", t.last_used_at AS "lastUsedAt", t.expires_at AS "expiresAt",
      signer.name AS "tokenName", t.by_invitation AS "byInvitation", t.token_hash IS NOT DISTINCT FROM ${secretHash}::bytea AS "isThis"
    FROM api_tokens t LEFT JOIN api_tokens signer ON signer.id = t.signed_in_by
    WHERE t.user_id = ${userId} AND t.is_session AND ${good}
    ORDER BY t.created_at DESC, t.id DESC`.execute(db);
  return rows;
}

/** Ends the session with this secret. A token that is no session stays good. */
export async function endBrowserSession(db: Database, secretHash: Buffer): Promise<void> {
  await sql`
    UPDATE api_tokens SET revoked_at = now()
    WHERE token_hash = ${secretHash} AND is_session AND revoked_at IS NULL`.execute(db);
}

/**
 * Whose sessions end. `onlyOf`: SHA-256 of a token or session: only what the same token has begun, because a
 * token that its user has made ends nothing of another one; null: all of the user.
 */
interface SessionsOf {
  readonly userId: string;
  readonly onlyOf: Buffer | null;
}

const sessionsOf = ({ userId, onlyOf }: SessionsOf) => sql`
  user_id = ${userId} AND is_session AND (${onlyOf}::bytea IS NULL
    OR signed_in_by = (SELECT coalesce(signed_in_by, id) FROM api_tokens WHERE token_hash = ${onlyOf}))`;

/**
 * Ends one session. Another user's session stays, and so does a token that is no session.
 * @returns whether there was such a session, ended before or now
 */
export async function endOwnBrowserSession(
  db: Database,
  { id, ...whose }: SessionsOf & { readonly id: string },
): Promise<boolean> {
  const result = await sql`
    UPDATE api_tokens SET revoked_at = coalesce(revoked_at, now())
    WHERE id = ${id} AND ${sessionsOf(whose)}`.execute(db);
  return affectedRows(result) === 1;
}

/** Ends all these sessions but the one with this secret; null: all. */
export async function endOtherBrowserSessions(
  db: Database,
  { secretHash, ...whose }: SessionsOf & { readonly secretHash: Buffer | null },
): Promise<void> {
  await revokeEach(sql`${sessionsOf(whose)} AND token_hash IS DISTINCT FROM ${secretHash}::bytea`).execute(
    db,
  );
}

export interface OperatorSession {
  /** As what the operator does is recorded. */
  readonly actor: Actor;
  readonly may: OperatorMay;
}

interface NewOperatorSession extends OperatorSession {
  /** SHA-256 of the secret in the cookie. */
  readonly secretHash: Buffer;
  readonly lastsSeconds: number;
}

/** Of one person: who is in no group gets sessions, too, and could begin any number within their hour. */
const MAX_SESSIONS = 20;

/**
 * Inserts the session of an operator's browser, and removes those that have ended and the oldest of the same
 * person beyond a bound. People may choose their name at the provider, and not their subject.
 */
export async function beginOperatorSession(db: Database, session: NewOperatorSession): Promise<void> {
  const { secretHash, actor, may, lastsSeconds } = session;
  await sql`
    WITH removed AS (
      DELETE FROM operator_sessions WHERE expires_at <= now() OR secret_hash IN (
        SELECT secret_hash FROM operator_sessions
        WHERE substring(actor from '#[^#]*$') = substring(${actor}::text from '#[^#]*$')
        ORDER BY expires_at DESC, secret_hash OFFSET ${MAX_SESSIONS - 1}
      )
    )
    INSERT INTO operator_sessions (secret_hash, actor, may, expires_at)
    VALUES (${secretHash}, ${actor}, ${may}, now() + make_interval(secs => ${lastsSeconds}))`.execute(db);
}

/** The session with this secret; null: there is none, or it has ended. */
export async function findOperatorSession(db: Database, secretHash: Buffer): Promise<OperatorSession | null> {
  const { rows } = await sql<OperatorSession>`
    SELECT actor, may FROM operator_sessions
    WHERE secret_hash = ${secretHash} AND expires_at > now()`.execute(db);
  return rows[0] ?? null;
}

/** From the commit on, the cookie of the session is good for nothing. */
export async function endOperatorSession(db: Database, secretHash: Buffer): Promise<void> {
  await sql`DELETE FROM operator_sessions WHERE secret_hash = ${secretHash}`.execute(db);
}

/**
 * Of those that one token, or the identity provider, has begun: far more than the browsers of a person. A
 * further one ends the oldest of these, so that a token that only reads ends no session of another one.
 */
const MAX_SESSIONS_OF_TOKEN = 100;

interface SessionToInsert {
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
