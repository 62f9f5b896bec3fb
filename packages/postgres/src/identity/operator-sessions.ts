import { sql } from 'kysely';
import type { Actor } from '../database/actor.ts';
import type { Database } from '../database/database.ts';
import type { OperatorMay } from '../schema/users.ts';

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
