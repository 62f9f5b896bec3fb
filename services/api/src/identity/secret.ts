import { hash, randomBytes, timingSafeEqual } from 'node:crypto';

/** 256 bits of the CSPRNG, which can't be guessed: a single SHA-256 in the database is enough. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** SHA-256. */
export function hashOfSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

/** Compares two SHA-256 hashes in constant time. */
export function isSameHash(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}
