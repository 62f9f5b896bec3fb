import { MAX_OWN_TOKENS, type OwnTokenScope, type TokenScope } from '@pasteflow/domain';
import { sql } from 'kysely';
import { affectedRows, type Database } from '../database/database.ts';
import { good, scope } from './api-tokens.ts';

interface NewOwnToken {
  readonly userId: string;
  /** SHA-256 of the token or of the session that makes it; null: an access token of the identity provider. */
  readonly makerHash: Buffer | null;
  readonly name: string;
  readonly scope: OwnTokenScope;
  readonly tokenHash: Buffer;
  /** The token ends earlier when the token that makes it does. */
  readonly expiresInSeconds: number;
}

export interface OwnToken {
  readonly id: string;
  readonly name: string;
  readonly scope: TokenScope;
  readonly createdAt: Date;
  /** To the minute; null: never. */
  readonly lastUsedAt: Date | null;
  readonly expiresAt: Date | null;
  /** It is the token with the given hash. */
  readonly isThis: boolean;
}

const columns = sql`t.id, t.name, t.scope, t.created_at AS "createdAt", t.last_used_at AS "lastUsedAt", t.expires_at AS "expiresAt"`;

/**
 * Inserts a token that its user makes. Creations of one user wait for each other's commits, so that the bound
 * is exact. The lock on the maker's row lets revokeTokensOf find what a session has made.
 *
 * Of the tokens that have ended, as many stay for the operator as there may be good ones.
 * @returns the token that was inserted before with this hash; `refused` when the maker is not good or may not
 *   make tokens; `ended` when the token of this hash was revoked or has expired; `too_many` when the user has
 *   MAX_OWN_TOKENS good ones
 */
export async function createOwnToken(
  db: Database,
  { userId, makerHash, name, scope: wanted, tokenHash, expiresInSeconds }: NewOwnToken,
): Promise<OwnToken | 'refused' | 'ended' | 'too_many'> {
  return await db.transaction().execute(async (tx) => {
    await sql`SELECT pg_advisory_xact_lock(hashtext('pasteflow.tokens'), hashtext(${userId}::text))`.execute(
      tx,
    );
    // Before the maker, as an erasure does.
    const { rows: owners } = await sql`SELECT WHERE user_stands(${userId}::uuid)`.execute(tx);
    if (owners.length === 0) return 'refused';
    const { rows: makers } = await sql<{ id: string | null }>`
      SELECT coalesce(signed_in_by, CASE WHEN NOT is_session THEN id END) AS id FROM api_tokens t
      WHERE token_hash = ${makerHash} AND user_id = ${userId} AND ${good} AND ${scope} = 'full' FOR SHARE OF t`.execute(
      tx,
    );
    if (makerHash !== null && makers.length === 0) return 'refused';
    const { rows: earlier } = await sql<OwnToken & { readonly isGood: boolean }>`
      SELECT ${columns}, false AS "isThis", ${good} AS "isGood" FROM api_tokens t
      WHERE token_hash = ${tokenHash} AND user_id = ${userId}`.execute(tx);
    if (earlier[0] !== undefined) return earlier[0].isGood ? earlier[0] : 'ended';
    const madeBy = makers[0]?.id ?? null;
    const { rows } = await sql<OwnToken>`
      WITH own AS MATERIALIZED (
        SELECT id, ${good} AS good, row_number() OVER (PARTITION BY ${good} ORDER BY created_at DESC, id DESC) AS place
        FROM api_tokens t WHERE user_id = ${userId} AND scope <> 'full'
      ), spare AS MATERIALIZED (
        SELECT id FROM api_tokens WHERE id IN (SELECT id FROM own WHERE NOT good AND place > ${MAX_OWN_TOKENS})
        FOR UPDATE SKIP LOCKED
      ), removed AS (
        DELETE FROM api_tokens t USING spare WHERE t.id = spare.id
      )
      INSERT INTO api_tokens AS t (user_id, name, token_hash, scope, made_by, expires_at)
      SELECT ${userId}::uuid, ${name}::text, ${tokenHash}::bytea, ${wanted}::text, ${madeBy}::uuid,
        least(now() + make_interval(secs => ${expiresInSeconds}), (SELECT expires_at FROM api_tokens WHERE id = ${madeBy}::uuid))
      WHERE (SELECT count(*) FROM own WHERE good) < ${MAX_OWN_TOKENS}
      RETURNING ${columns}, false AS "isThis"`.execute(tx);
    return rows[0] ?? 'too_many';
  });
}

/**
 * The user's good tokens, newest first, also those that an operator has made; no sessions.
 * @param tokenHash of the token that is to be marked; null: none
 */
export async function listOwnTokens(
  db: Database,
  { userId, tokenHash }: { readonly userId: string; readonly tokenHash: Buffer | null },
): Promise<readonly OwnToken[]> {
  const { rows } = await sql<OwnToken>`
    SELECT ${columns}, t.token_hash IS NOT DISTINCT FROM ${tokenHash}::bytea AS "isThis"
    FROM api_tokens t WHERE t.user_id = ${userId} AND NOT t.is_session AND ${good}
    ORDER BY t.created_at DESC, t.id DESC`.execute(db);
  return rows;
}

/**
 * Revokes a token of the user. From the commit on, requests are refused that come with it, or with what it has
 * made or begun.
 * @returns whether this call did: not for a session, another user's token, or one that was revoked before
 */
export async function revokeOwnToken(
  db: Database,
  { userId, id }: { readonly userId: string; readonly id: string },
): Promise<boolean> {
  const result = await sql`
    UPDATE api_tokens SET revoked_at = now()
    WHERE id = ${id} AND user_id = ${userId} AND NOT is_session AND revoked_at IS NULL`.execute(db);
  return affectedRows(result) === 1;
}
