import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** 256 random bits, which nobody guesses: the database needs no more than one SHA-256 of them. */
export function newDeleteToken(): string {
  return randomBytes(32).toString('base64url');
}

export function hashOfToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** In constant time. A paste without a token (`hash` null) can't be deleted by one. */
export function isDeleteToken(token: string | undefined, hash: Buffer | null): boolean {
  return token !== undefined && hash !== null && timingSafeEqual(hashOfToken(token), hash);
}
