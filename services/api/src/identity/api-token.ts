import { useApiToken, type Database } from '@pasteflow/postgres';
import { hashOfSecret, isSameHash, newSecret } from './secret.ts';

/** Tells an api token from any other, for scanners of leaked secrets too. */
const PREFIX = 'pf_';

export function newApiToken(): string {
  return PREFIX + newSecret();
}

/** Whether it has the form of one: what hasn't never reaches the database. */
export function isApiToken(text: string): boolean {
  return /^pf_[\w-]{43}$/.test(text);
}

/** Whose it is; null for a token that is unknown, expired or revoked. One statement, the note of its use included. */
export async function findUserOfToken(
  db: Database,
  token: string,
): Promise<{ readonly userId: string; readonly tokenId: string } | null> {
  if (!isApiToken(token)) return null;
  const hash = hashOfSecret(token);
  const found = await useApiToken(db, hash);
  if (found === null || !found.good || !isSameHash(found.tokenHash, hash)) return null;
  return { userId: found.userId, tokenId: found.id };
}
