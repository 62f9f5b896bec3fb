import { hashOfSecret, newSecret } from './secret.ts';

/** What a browser keeps while its user is at the provider. The answer must be to its own request. */
export interface PendingSignIn {
  /** Returned in the query of the callback. Without it, another site could send a browser its own answer. */
  readonly state: string;
  /** In the ID token: it was issued for this request. */
  readonly nonce: string;
  /** RFC 7636: only this browser can redeem the code. */
  readonly codeVerifier: string;
  /** The path of the page to show afterwards. */
  readonly next: string;
}

/** The time that a person needs at the identity provider, with a second factor. */
export const PENDING_SECONDS = 600;

export function newPendingSignIn(next: string): PendingSignIn {
  return { state: newSecret(), nonce: newSecret(), codeVerifier: newSecret(), next };
}

/**
 * As the value of a cookie (RFC 6265, 4.1.1), which holds no comma, semicolon or space. The cookie also has
 * the hash of the session that the sign-in replaces, because the browser leaves out the Strict cookie when it
 * comes back from the provider.
 * @param session the secret of the browser's session; null: it has none
 */
export function writePending(
  { state, nonce, codeVerifier, next }: PendingSignIn,
  session: string | null,
): string {
  const replaced = session === null ? '' : hashOfSecret(session).toString('base64url');
  return [state, nonce, codeVerifier, replaced, Buffer.from(next).toString('base64url')].join('.');
}

/** Null: no cookie of writePending. Users can change it, so `next` is checked again. */
export function readPending(
  cookie: string | null,
): (PendingSignIn & { readonly replacedSession: Buffer | null }) | null {
  const parts = /^([\w-]{43})\.([\w-]{43})\.([\w-]{43})\.([\w-]{43})?\.([\w-]*)$/.exec(cookie ?? '');
  if (parts === null) return null;
  const [, state = '', nonce = '', codeVerifier = '', replaced, next = ''] = parts;
  return {
    state,
    nonce,
    codeVerifier,
    replacedSession: replaced === undefined ? null : Buffer.from(replaced, 'base64url'),
    next: Buffer.from(next, 'base64url').toString(),
  };
}
