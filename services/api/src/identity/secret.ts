import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** 256 bits of the CSPRNG, which nobody guesses: of what has so many the database needs no more than one SHA-256. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** SHA-256. */
export function hashOfSecret(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

/** Both SHA-256, in constant time. */
export function isSameHash(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}
