import { hashOfSecret, newSecret } from '../cookies.ts';

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
 * @param earlier the cookie that the browser has: another tab may be at the provider, too; null: none
 */
export function writePending(
  { state, nonce, codeVerifier, next }: PendingSignIn,
  session: string | null,
  earlier: string | null,
): string {
  const replaced = session === null ? '' : hashOfSecret(session).toString('base64url');
  const own = [state, nonce, codeVerifier, replaced, Buffer.from(next).toString('base64url')].join('.');
  const all = [own, ...partsOf(earlier)].slice(0, MAX_PENDING);
  while (all.length > 1 && all.join('~').length > MAX_CHARACTERS) all.pop();
  return all.join('~');
}

/** A few tabs. A browser keeps 4,096 bytes of a cookie. */
const MAX_PENDING = 4;
const MAX_CHARACTERS = 3500;

const partsOf = (cookie: string | null): readonly string[] => (cookie ?? '').split('~').filter(Boolean);

/** The cookie without the sign-in of this state; empty: there is no other one. */
export function withoutPending(cookie: string | null, state: string): string {
  return partsOf(cookie)
    .filter((each) => !each.startsWith(`${state}.`))
    .join('~');
}

/**
 * The sign-in of this state; null: no cookie of writePending has it. Users can change it, so `next` is checked
 * again.
 */
export function readPending(
  cookie: string | null,
  asked: string | null,
): (PendingSignIn & { readonly replacedSession: Buffer | null }) | null {
  const own = partsOf(cookie).find((each) => each.startsWith(`${asked}.`));
  const parts = /^([\w-]{43})\.([\w-]{43})\.([\w-]{43})\.([\w-]{43})?\.([\w-]*)$/.exec(own ?? '');
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
