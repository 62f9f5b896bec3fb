import type { TokenScope } from '@pasteflow/domain';
import { networkOf } from '@pasteflow/http-kit';

/** What has identified a caller. It is checked again while a long answer goes on. */
export type Credential =
  /** An API token or a session, by its hash in Postgres. */
  | { readonly kind: 'stored'; readonly hash: Buffer }
  /** An access token of the operator's identity provider. */
  | { readonly kind: 'signed'; readonly expiresAtMs: number };

/** The user of a token or a session. */
export interface IdentifiedUser {
  readonly userId: string;
  /** The id of the API token; null for a token of the operator's identity provider, and for a session. */
  readonly tokenId: string | null;
  readonly scope: TokenScope;
  readonly credential: Credential;
}

/** Finds the user of a token; null for an invalid one. @throws DependencyUnavailableError */
export type FindUser = (token: string) => Promise<IdentifiedUser | null>;

/** The sender of a request. `address` is the client's, as far as TRUST_PROXY reveals it. */
export type Caller =
  | { readonly kind: 'anonymous'; readonly address: string }
  | (IdentifiedUser & { readonly kind: 'user'; readonly address: string });

/** The owner of an idempotency key: two callers may use the same key. */
export function callerKeyOf(caller: Caller): string {
  return caller.kind === 'user' ? `user:${caller.userId}` : `address:${networkOf(caller.address)}`;
}

/** The site of an IPv6 address, which may have many networks; null: the address is one of IPv4. */
export function siteKeyOf({ address }: Caller): string | null {
  const site = networkOf(address, 48);
  return site === networkOf(address) ? null : `site:${site}`;
}

/**
 * Whose limits a request counts against. Each token of an operator has its own, so that a script out of control
 * does not stop its user's other scripts. Those that users make share the limits of the user, who would
 * otherwise get more limits by more tokens.
 */
export function limitKeyOf(caller: Caller): string {
  return caller.kind === 'user' && caller.tokenId !== null && caller.scope === 'full'
    ? `api-token:${caller.tokenId}`
    : callerKeyOf(caller);
}
