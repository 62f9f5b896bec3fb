import { randomUUID } from 'node:crypto';
import type { OwnTokenScope } from '@pasteflow/domain';
import {
  createApiToken,
  createOwnToken,
  invite,
  revokeApiToken,
  useApiToken,
  type Database,
} from '@pasteflow/postgres';
import { hashOfSecret, newApiToken, newSecret } from '../../src/http/callers/secret.ts';
import { beginSession } from '../../src/sessions/browser-sessions.ts';

export interface TestUser {
  readonly id: string;
  readonly token: string;
  /** The headers of the user's requests. */
  readonly headers: Readonly<Record<string, string>>;
}

/** An expired or revoked token of the user. */
export async function spentToken(
  db: Database,
  userId: string,
  spent: 'expired' | 'revoked',
): Promise<string> {
  const { name } = await db
    .selectFrom('users')
    .select('name')
    .where('id', '=', userId)
    .executeTakeFirstOrThrow();
  const token = newApiToken();
  const { id } = await createApiToken(db, {
    userName: name,
    name: spent,
    tokenHash: hashOfSecret(token),
    expiresInSeconds: spent === 'expired' ? -1 : null,
  });
  if (spent === 'revoked') await revokeApiToken(db, id);
  return token;
}

/** Revokes all tokens of the user. */
export async function revokeTokens(db: Database, userId: string): Promise<void> {
  const tokens = await db.selectFrom('api_tokens').select('id').where('user_id', '=', userId).execute();
  for (const { id } of tokens) await revokeApiToken(db, id);
}

/** The cookie of a browser in which this token has signed its user in. */
export async function signedInWith(db: Database, token: string): Promise<string> {
  const found = await useApiToken(db, hashOfSecret(token));
  if (found === null) throw new Error('no such token');
  return `pasteflow=${await beginSession(db, { userId: found.userId, tokenId: found.id })}`;
}

/** Another token of the same user. */
export async function anotherToken(db: Database, userId: string): Promise<TestUser> {
  const { name } = await db
    .selectFrom('users')
    .select('name')
    .where('id', '=', userId)
    .executeTakeFirstOrThrow();
  return await newUser(db, { name });
}

/** A new user with a token, inserted without the api. */
export async function newUser(
  db: Database,
  { token = newApiToken(), name = randomUUID() }: { token?: string; name?: string } = {},
): Promise<TestUser> {
  const { userId } = await createApiToken(db, {
    userName: name,
    name: 'of a test',
    tokenHash: hashOfSecret(token),
    expiresInSeconds: null,
  });
  return { id: userId, token, headers: { authorization: `Bearer ${token}` } };
}

/** A token that the user has made with the own one. */
export async function ownToken(
  db: Database,
  { id: userId, token: maker }: TestUser,
  scope: OwnTokenScope = 'write',
): Promise<TestUser> {
  const token = newApiToken();
  const made = await createOwnToken(db, {
    userId,
    makerHash: hashOfSecret(maker),
    name: 'made',
    scope,
    tokenHash: hashOfSecret(token),
    expiresInSeconds: 3600,
  });
  if (typeof made === 'string') throw new Error(made);
  return { id: made.id, token, headers: { authorization: `Bearer ${token}` } };
}

/** The secret in the link of a new invitation. */
export async function newInvitation(db: Database, userId: string, lastsSeconds = 60): Promise<string> {
  const secret = newSecret();
  await invite(db, { userId, secretHash: hashOfSecret(secret), lastsSeconds });
  return secret;
}
