import { beginBrowserSession, endBrowserSession, useApiToken, type Database } from '@pasteflow/postgres';
import type { IdentifiedUser } from '../http/request/caller.ts';
import { hashOfSecret, isSameHash, newSecret } from './secret.ts';

/** A working day. The identity provider is asked again afterwards, which a user who left may not pass. */
const SESSION_SECONDS = 12 * 3600;

/** Begins a session for a browser whose user has signed in, and returns the secret for its cookie. */
export async function beginSession(
  db: Database,
  { userId, tokenId, credential }: Omit<IdentifiedUser, 'credential'> & Partial<IdentifiedUser>,
): Promise<string> {
  const secret = newSecret();
  const untilMs = credential?.kind === 'signed' ? credential.expiresAtMs : Infinity;
  await beginBrowserSession(db, {
    userId,
    signedInBy: tokenId,
    secretHash: hashOfSecret(secret),
    lastsSeconds: Math.min(SESSION_SECONDS, (untilMs - Date.now()) / 1000),
  });
  return secret;
}

/** Ends the session of a browser. @param secret of its cookie; null: it has none */
export async function endSession(db: Database, secret: string | null): Promise<void> {
  if (secret !== null && isSecret(secret)) await endBrowserSession(db, hashOfSecret(secret));
}

/**
 * The user of a session; null for one that is unknown or has ended. One statement, which also records the
 * use. The sessions of a user share the limits of the user, so that a user who signs in again gets no further
 * limits.
 */
export async function findUserOfSession(db: Database, secret: string): Promise<IdentifiedUser | null> {
  if (!isSecret(secret)) return null;
  const hash = hashOfSecret(secret);
  const found = await useApiToken(db, hash);
  if (found?.isSession !== true || !found.good || !isSameHash(found.tokenHash, hash)) return null;
  return { userId: found.userId, tokenId: null, credential: { kind: 'stored', hash } };
}

/**
 * An API token has another form, so that it counts in no cookie, and the secret of a session in no header.
 */
function isSecret(text: string): boolean {
  return /^[\w-]{43}$/.test(text);
}
