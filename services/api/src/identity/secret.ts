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

/** The prefix distinguishes an API token from others, also for scanners of leaked secrets. */
export function newApiToken(): string {
  return `pf_${newSecret()}`;
}

/** Whether a text has the form of an API token. Other texts never reach the database. */
export function isApiToken(text: string): boolean {
  return /^pf_[\w-]{43}$/.test(text);
}

/**
 * An API token has another form, so that it counts in no cookie, and the secret of a session in no header.
 */
export function isSessionSecret(text: string): boolean {
  return /^[\w-]{43}$/.test(text);
}
