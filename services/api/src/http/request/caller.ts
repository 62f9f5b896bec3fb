import { networkOf } from './client-address.ts';

/** The sender of a request. `address` is the client's, as far as TRUST_PROXY reveals it. */
export type Caller =
  | { readonly kind: 'anonymous'; readonly address: string }
  | {
      readonly kind: 'user';
      readonly userId: string;
      /** The id of the API token; null for a token of the operator's identity provider, and for a browser that it signed in. */
      readonly tokenId: string | null;
      readonly address: string;
    };

/** The owner of an idempotency key: two callers may use the same key. */
export function callerKeyOf(caller: Caller): string {
  return caller.kind === 'user' ? `user:${caller.userId}` : `address:${networkOf(caller.address)}`;
}

/**
 * Whose limits a request counts against. Each API token has its own, so that a script out of control does not
 * stop its user's other scripts.
 */
export function limitKeyOf(caller: Caller): string {
  return caller.kind === 'user' && caller.tokenId !== null
    ? `api-token:${caller.tokenId}`
    : callerKeyOf(caller);
}
