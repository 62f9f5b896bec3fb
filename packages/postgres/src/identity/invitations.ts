import { sql } from 'kysely';
import { affectedRows, type Database } from '../database/database.ts';
import { revokeEach, revokeTokensOf } from './api-tokens.ts';
import { insertedSession } from './sessions.ts';

interface NewInvitation {
  readonly userId: string;
  /** SHA-256 of the secret in the link. */
  readonly secretHash: Buffer;
  readonly lastsSeconds: number;
  /** Also ends the tokens of the user, and the sessions that began by other ways. Default: false. */
  readonly endsAll?: boolean;
}

interface Invited {
  readonly expiresAt: Date;
  /** How many sessions ended that earlier invitations had begun, or how many tokens and sessions of any kind. */
  readonly ended: number;
}

/**
 * Invites a user. The user's invitations before, and the sessions that they have begun, are good for nothing from the
 * commit on. The sessions are the second statement: it sees the one of an acceptance for which the first has waited.
 * @returns null: there is no such user, or the user is erased
 */
export async function invite(db: Database, invitation: NewInvitation): Promise<Invited | null> {
  if (!db.isTransaction) return await db.transaction().execute((tx) => invite(tx, invitation));
  const { userId, secretHash, lastsSeconds, endsAll = false } = invitation;
  await sql`SELECT pg_advisory_xact_lock(hashtext('pasteflow.invitations'), hashtext(${userId}::text))`.execute(
    db,
  );
  const { rows: users } = await sql`
    SELECT FROM users WHERE id = ${userId}::uuid AND user_stands(${userId}::uuid)`.execute(db);
  if (users.length === 0) return null;
  await endInvitationsOf(db, userId);
  const ended = endsAll
    ? await revokeTokensOf(db, userId)
    : affectedRows(await revokeEach(sql`user_id = ${userId}::uuid AND by_invitation`).execute(db));
  const { rows } = await sql<{ expiresAt: Date }>`
    INSERT INTO invitations (user_id, secret_hash, expires_at)
    VALUES (${userId}::uuid, ${secretHash}, now() + make_interval(secs => ${lastsSeconds}))
    RETURNING expires_at AS "expiresAt"`.execute(db);
  const [{ expiresAt }] = rows as [{ expiresAt: Date }];
  return { expiresAt, ended };
}

/** Ends the open invitation of a user. An acceptance that is under way comes first. */
export async function endInvitationsOf(db: Database, userId: string): Promise<void> {
  await sql`
    UPDATE invitations SET ended_at = now()
    WHERE user_id = ${userId}::uuid AND accepted_at IS NULL AND ended_at IS NULL`.execute(db);
}

interface Invitation {
  readonly userId: string;
  readonly userName: string;
  /** It is neither used, nor ended, nor expired, and its user stands. */
  readonly isOpen: boolean;
}

/** The invitation with this secret; null: there is none. */
export async function findInvitation(db: Database, secretHash: Buffer): Promise<Invitation | null> {
  const { rows } = await sql<Invitation>`
    SELECT u.id AS "userId", u.name AS "userName", ${open} AND u.erased_at IS NULL AS "isOpen"
    FROM invitations i JOIN users u ON u.id = i.user_id WHERE i.secret_hash = ${secretHash}`.execute(db);
  return rows[0] ?? null;
}

const open = sql`(i.accepted_at IS NULL AND i.ended_at IS NULL AND i.expires_at > now())`;

/**
 * Accepts an invitation, and begins the session of a browser. Of several acceptances at once one is the first, and the
 * others wait for its row and find it used. The user is locked before, as by an erasure.
 * @returns the id of the user; null: the invitation is not open
 */
export async function acceptInvitation(
  db: Database,
  accepted: {
    readonly secretHash: Buffer;
    /** SHA-256 of the secret in the cookie. */
    readonly sessionHash: Buffer;
    readonly lastsSeconds: number;
  },
): Promise<string | null> {
  const { secretHash, sessionHash, lastsSeconds } = accepted;
  const session = { signedInBy: null, byInvitation: true, secretHash: sessionHash, lastsSeconds };
  const { rows } = await sql<{ userId: string }>`
    WITH invited AS MATERIALIZED (
      SELECT id FROM invitations WHERE secret_hash = ${secretHash} AND user_stands(user_id)
    ), owner AS MATERIALIZED (
      UPDATE invitations i SET accepted_at = now() FROM invited WHERE i.id = invited.id AND ${open}
      RETURNING i.user_id AS id
    ), ${insertedSession(session)} RETURNING user_id AS "userId"`.execute(db);
  return rows[0]?.userId ?? null;
}
