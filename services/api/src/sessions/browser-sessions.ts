import { beginBrowserSession, endBrowserSession, type Database } from '@pasteflow/postgres';
import type { IdentifiedUser } from '../http/callers/caller.ts';
import { hashOfSecret, isSessionSecret, newSecret } from '../http/callers/secret.ts';

/** A working day. The identity provider is asked again afterwards, which a user who left may not pass. */
const SESSION_SECONDS = 12 * 3600;

/** Begins a session for a browser whose user has signed in, and returns the secret for its cookie. */
export async function beginSession(
  db: Database,
  { userId, tokenId, credential }: Pick<IdentifiedUser, 'userId' | 'tokenId'> & Partial<IdentifiedUser>,
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
  if (secret !== null && isSessionSecret(secret)) await endBrowserSession(db, hashOfSecret(secret));
}
