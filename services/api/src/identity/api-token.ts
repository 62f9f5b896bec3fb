import { useApiToken, type Database } from '@pasteflow/postgres';
import { hashOfSecret, isSameHash, newSecret } from './secret.ts';

/** Distinguishes an API token from others, also for scanners of leaked secrets. */
const PREFIX = 'pf_';

export function newApiToken(): string {
  return PREFIX + newSecret();
}

/** Whether a text has the form of an API token. Other texts never reach the database. */
export function isApiToken(text: string): boolean {
  return /^pf_[\w-]{43}$/.test(text);
}

/**
 * The user of a token; null for a token that is unknown, expired or revoked. One statement, which also records the use. The sessions of
 * a user's browsers share the limits of the user: one who signs in again and again gets no further limits.
 */
export async function findUserOfToken(
  db: Database,
  token: string,
): Promise<{ readonly userId: string; readonly tokenId: string | null } | null> {
  if (!isApiToken(token)) return null;
  const hash = hashOfSecret(token);
  const found = await useApiToken(db, hash);
  if (found === null || !found.good || !isSameHash(found.tokenHash, hash)) return null;
  return { userId: found.userId, tokenId: found.isSession ? null : found.id };
}
