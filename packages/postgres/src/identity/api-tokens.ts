import type { TokenScope } from '@pasteflow/domain';
import { sql, type RawBuilder } from 'kysely';
import { affectedRows, type Database } from '../database/database.ts';
import { anyOf } from '../database/planner.ts';
import { compiledOnce, prepared } from '../database/prepared.ts';
import { ensuredUser } from './users.ts';

export interface NewApiToken {
  /** The user is created when there is none with this name. */
  readonly userName: string;
  /** The name that the user gives the token. */
  readonly name: string;
  /** SHA-256 of the whole token. */
  readonly tokenHash: Buffer;
  /** Seconds from now; null: never. */
  readonly expiresInSeconds: number | null;
}

export interface CreatedApiToken {
  readonly id: string;
  readonly userId: string;
  readonly expiresAt: Date | null;
}

export async function createApiToken(db: Database, token: NewApiToken): Promise<CreatedApiToken> {
  const { rows } = await sql<CreatedApiToken>`
    WITH ${ensuredUser(token.userName)}
    INSERT INTO api_tokens (user_id, name, token_hash, expires_at)
    SELECT id, ${token.name}, ${token.tokenHash}::bytea, now() + make_interval(secs => ${token.expiresInSeconds})
    FROM ensured_user
    RETURNING id, user_id AS "userId", expires_at AS "expiresAt"`.execute(db);
  const [created] = rows;
  if (created === undefined)
    throw new Error(`${token.userName} is the name of an erased user; choose another name`);
  return created;
}

/** The token that signed the browser of the row `t` in, or with which `t` was made; NULL: none. */
const source = sql`coalesce(t.signed_in_by, t.made_by)`;

/**
 * Whether the row `t` of api_tokens is neither expired nor revoked, and neither are the tokens from which it
 * comes: at most a session from a token of its user, from a token of the operator. Of one that is missing, all
 * columns are NULL, and it stands.
 */
export const good = sql`(${stands('t')} AND (${source} IS NULL OR EXISTS (
  SELECT FROM api_tokens source LEFT JOIN api_tokens first ON first.id = source.made_by
  WHERE source.id = ${source} AND ${stands('source')} AND ${stands('first')})))`;

/** What the row `t` of api_tokens may do. */
export const scope = sql<TokenScope>`coalesce((SELECT scope FROM api_tokens WHERE id = t.signed_in_by), t.scope)`;

function stands(row: string): RawBuilder<unknown> {
  const { revoked, expires } = {
    revoked: sql.ref(`${row}.revoked_at`),
    expires: sql.ref(`${row}.expires_at`),
  };
  return sql`(${revoked} IS NULL AND (${expires} IS NULL OR ${expires} > now()))`;
}

export interface ApiTokenUse {
  readonly id: string;
  readonly userId: string;
  /** The session of a browser. */
  readonly isSession: boolean;
  /** The stored hash, for a comparison in constant time. */
  readonly tokenHash: Buffer;
  readonly scope: TokenScope;
  /** Neither expired nor revoked, and neither are the tokens from which it comes. */
  readonly good: boolean;
}

const useTokens = compiledOnce((db, tokenHashes: readonly Buffer[]) => {
  const named = sql`token_hash = ${anyOf(tokenHashes, 'bytea')}`;
  return sql<ApiTokenUse>`${prepared}
    WITH unnoted AS MATERIALIZED (
      SELECT id FROM api_tokens t
      WHERE ${named} AND ${good} AND (last_used_at IS NULL OR last_used_at <= now() - interval '1 minute')
      FOR NO KEY UPDATE SKIP LOCKED
    ), noted AS (
      UPDATE api_tokens SET last_used_at = now() WHERE id = ANY (ARRAY(SELECT id FROM unnoted))
    )
    SELECT id, user_id AS "userId", is_session AS "isSession", token_hash AS "tokenHash", ${scope} AS scope,
      ${good} AS good
    FROM api_tokens t WHERE ${named}`.compile(db);
});

/**
 * Finds the tokens with these hashes and, in the same statement, records their use: at most once a minute, so
 * that a busy token does not write a row for each request. A call waits for no other one that is recording.
 * @returns by their hashes in hex
 */
export async function useApiTokens(
  db: Database,
  tokenHashes: readonly Buffer[],
): Promise<ReadonlyMap<string, ApiTokenUse>> {
  const used = await useTokens(db, tokenHashes);
  return new Map(used.map((use) => [use.tokenHash.toString('hex'), use]));
}

/** `useApiTokens` for one token; null: there is none with this hash. */
export async function useApiToken(db: Database, tokenHash: Buffer): Promise<ApiTokenUse | null> {
  return (await useApiTokens(db, [tokenHash])).get(tokenHash.toString('hex')) ?? null;
}

/** Those of these tokens and sessions that are good, by their hashes in hex. Not recorded as a use. */
export async function findGoodTokens(
  db: Database,
  tokenHashes: readonly Buffer[],
): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ hash: string }>`
    SELECT encode(token_hash, 'hex') AS hash FROM api_tokens t
    WHERE token_hash = ANY (${tokenHashes}::bytea[]) AND ${good}`.execute(db);
  return new Set(rows.map(({ hash }) => hash));
}

/** Whether the token is good and belongs to this user. Not recorded as a use. */
export async function isGoodApiToken(
  db: Database,
  { tokenHash, userName }: { tokenHash: Buffer; userName: string },
): Promise<boolean> {
  const { rows } = await sql`
    SELECT FROM api_tokens t JOIN users ON users.id = user_id
    WHERE token_hash = ${tokenHash} AND users.name = ${userName} AND ${good}`.execute(db);
  return rows.length > 0;
}

export interface ApiToken {
  readonly id: string;
  readonly name: string;
  readonly scope: TokenScope;
  /** The id of the token from which it comes; null: none. */
  readonly source: string | null;
  readonly createdAt: Date;
  /** To the minute; null: never. */
  readonly lastUsedAt: Date | null;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  readonly state: 'good' | 'expired' | 'revoked';
}

/** The tokens of a user, oldest first; null: there is no such user. */
export async function listApiTokens(db: Database, userName: string): Promise<readonly ApiToken[] | null> {
  const { rows } = await sql<ApiToken | { id: null }>`
    SELECT t.id, t.name, ${scope} AS scope,  ${source} AS source, t.created_at AS "createdAt",
      t.last_used_at AS "lastUsedAt", t.expires_at AS "expiresAt", t.revoked_at AS "revokedAt",
      CASE WHEN coalesce(t.revoked_at, source.revoked_at, first.revoked_at) IS NOT NULL THEN 'revoked'
        WHEN ${good} THEN 'good' ELSE 'expired' END AS state
    FROM users LEFT JOIN api_tokens t ON t.user_id = users.id LEFT JOIN api_tokens source ON source.id = ${source}
      LEFT JOIN api_tokens first ON first.id = source.made_by
    WHERE users.name = ${userName} ORDER BY t.created_at, t.id`.execute(db);
  if (rows.length === 0) return null;
  return rows.filter((row): row is ApiToken => row.id !== null);
}

/** Revokes tokens and sessions, in the order of their ids, so that no two calls can deadlock. */
export function revokeEach(which: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    WITH ending AS MATERIALIZED (
      SELECT id FROM api_tokens WHERE ${which} AND revoked_at IS NULL ORDER BY id FOR NO KEY UPDATE
    )
    UPDATE api_tokens t SET revoked_at = now() FROM ending WHERE t.id = ending.id`;
}

/**
 * Revokes all tokens and sessions of a user. The second statement sees the tokens that a session has made while
 * the first one waited for the lock of its row (createOwnToken).
 * @returns how many were not revoked before
 */
export async function revokeTokensOf(db: Database, userId: string): Promise<number> {
  const revoke = revokeEach(sql`user_id = ${userId}`);
  return affectedRows(await revoke.execute(db)) + affectedRows(await revoke.execute(db));
}

/**
 * Revokes a token. From the commit on, requests with the token are refused, and those of the browsers that it
 * has signed in and of the tokens that it has made.
 * @returns `already` when the token was revoked before; null when there is no such token
 */
export async function revokeApiToken(db: Database, id: string): Promise<'revoked' | 'already' | null> {
  const { rows } = await sql<{ revoked: boolean }>`
    WITH revoked AS (
      UPDATE api_tokens SET revoked_at = now() WHERE id = ${id} AND revoked_at IS NULL RETURNING id
    )
    SELECT EXISTS (SELECT FROM revoked) AS revoked FROM api_tokens WHERE id = ${id}`.execute(db);
  const [row] = rows;
  if (row === undefined) return null;
  return row.revoked ? 'revoked' : 'already';
}
