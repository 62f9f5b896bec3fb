import { hash, randomBytes } from 'node:crypto';

/** 256 bits of the CSPRNG, which can't be guessed: a single SHA-256 in the database is enough. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** SHA-256. */
export function hashOfSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}
