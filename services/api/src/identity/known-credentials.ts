import { hash } from 'node:crypto';

/** About 100 bytes each. */
const MAX_CREDENTIALS = 10_000;

/**
 * Hashes of the credentials that this process has recently found valid. They are still looked up, because
 * they may have been revoked since.
 */
export class KnownCredentials {
  /** The least recently used first. */
  readonly #hashes = new Set<string>();

  /** @param authorization the whole header */
  has(authorization: string): boolean {
    return this.#hashes.has(hashOf(authorization));
  }

  add(authorization: string): void {
    const known = hashOf(authorization);
    this.#hashes.delete(known);
    this.#hashes.add(known);
    const [oldest] = this.#hashes;
    if (this.#hashes.size > MAX_CREDENTIALS && oldest !== undefined) this.#hashes.delete(oldest);
  }

  delete(authorization: string): void {
    this.#hashes.delete(hashOf(authorization));
  }
}

function hashOf(authorization: string): string {
  return hash('sha256', authorization, 'base64');
}
