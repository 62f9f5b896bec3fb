import { hashOfSecret, isSameHash } from '../identity/secret.ts';

/** In constant time. A paste without a token (`hash` null) can't be deleted by one. */
export function isDeleteToken(token: string | undefined, hash: Buffer | null): boolean {
  return token !== undefined && hash !== null && isSameHash(hashOfSecret(token), hash);
}
