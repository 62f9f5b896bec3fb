import { hashOfSecret, isSameHash } from '../identity/secret.ts';

/** Compares in constant time. @param hash null: the paste has no delete token, and none matches */
export function isDeleteToken(token: string | undefined, hash: Buffer | null): boolean {
  return token !== undefined && hash !== null && isSameHash(hashOfSecret(token), hash);
}
