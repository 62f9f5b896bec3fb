import { beginBrowserSession, type Database } from '@pasteflow/postgres';
import { newApiToken } from '../api-token.ts';
import { hashOfSecret } from '../secret.ts';
import { nameOfSubject } from '../subject.ts';

/** A working day. The provider is asked again afterwards, which a user who left may not pass. */
const SESSION_SECONDS = 12 * 3600;

/** The token of a browser whose user the identity provider has signed in. */
export async function beginSession(
  db: Database,
  { issuer, subject }: { readonly issuer: string; readonly subject: string },
): Promise<string> {
  const token = newApiToken();
  await beginBrowserSession(db, {
    userName: nameOfSubject(issuer, subject),
    tokenHash: hashOfSecret(token),
    lastsSeconds: SESSION_SECONDS,
  });
  return token;
}
