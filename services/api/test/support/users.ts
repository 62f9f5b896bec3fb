import { randomUUID } from 'node:crypto';
import { createApiToken, revokeApiToken, type Database } from '@pasteflow/postgres';
import { newApiToken } from '../../src/identity/api-token.ts';
import { hashOfSecret } from '../../src/identity/secret.ts';

export interface TestUser {
  readonly id: string;
  readonly token: string;
  /** Those of a request of theirs. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A token of theirs that has expired, or is revoked. */
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

/** A new user with a token, made behind the api's back. */
export async function newUser(
  db: Database,
  { token = newApiToken() }: { token?: string } = {},
): Promise<TestUser> {
  const { userId } = await createApiToken(db, {
    userName: randomUUID(),
    name: 'of a test',
    tokenHash: hashOfSecret(token),
    expiresInSeconds: null,
  });
  return { id: userId, token, headers: { authorization: `Bearer ${token}` } };
}
