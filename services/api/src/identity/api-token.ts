import { useApiToken, type Database } from '@pasteflow/postgres';
import type { IdentifiedUser } from '../http/request/caller.ts';
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

/** The user of a token; null: it is unknown, expired or revoked. The same statement records the use. */
export async function findUserOfToken(db: Database, token: string): Promise<IdentifiedUser | null> {
  if (!isApiToken(token)) return null;
  const hash = hashOfSecret(token);
  const found = await useApiToken(db, hash);
  if (found?.isSession !== false || !found.good || !isSameHash(found.tokenHash, hash)) return null;
  return { userId: found.userId, tokenId: found.id, credential: { kind: 'stored', hash } };
}
