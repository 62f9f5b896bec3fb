import { networkOf } from './client-address.ts';

/** Who sends a request. `address` is the client's own, as far as TRUST_PROXY lets it be known. */
export type Caller =
  | { readonly kind: 'anonymous'; readonly address: string }
  | {
      readonly kind: 'user';
      readonly userId: string;
      /** Of the api token; null for a token of the operator's identity provider. */
      readonly tokenId: string | null;
      readonly address: string;
    };

/** Whose an idempotency key is. */
export function scopeOf(caller: Caller): string {
  return caller.kind === 'user' ? `user:${caller.userId}` : `address:${networkOf(caller.address)}`;
}

/** Who has limits of their own: each api token, so that a script that runs wild doesn't stop its user's others. */
export function limitedAs(caller: Caller): string {
  return caller.kind === 'user' && caller.tokenId !== null ? `api-token:${caller.tokenId}` : scopeOf(caller);
}
