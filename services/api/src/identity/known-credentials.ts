import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';

/** About 100 bytes each. */
const MAX_CREDENTIALS = 10_000;

/**
 * Hashes of the credentials that this process has recently found valid. They are still looked up, because
 * they may have been revoked since.
 */
export class KnownCredentials {
  readonly #hashes = new LRUCache<string, true>({
    maxSize: MAX_CREDENTIALS, // `max` would reserve the room of all of them at once
    sizeCalculation: () => 1,
  });

  /** @param authorization the whole header */
  has(authorization: string): boolean {
    return this.#hashes.has(hashOf(authorization));
  }

  add(authorization: string): void {
    this.#hashes.set(hashOf(authorization), true);
  }

  delete(authorization: string): void {
    this.#hashes.delete(hashOf(authorization));
  }
}

function hashOf(authorization: string): string {
  return hash('sha256', authorization, 'base64');
}
