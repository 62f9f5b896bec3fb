import { createHash } from 'node:crypto';

/** Some 100 bytes each. */
const MAX_CREDENTIALS = 10_000;

/** Credentials that this process has lately found good, by their hash. It spares nobody the look-up: they may be revoked by now. */
export class GoodCredentials {
  /** The one used longest ago first. */
  readonly #hashes = new Set<string>();

  /** @param authorization the header, whole */
  has(authorization: string): boolean {
    return this.#hashes.has(hashOf(authorization));
  }

  add(authorization: string): void {
    const hash = hashOf(authorization);
    this.#hashes.delete(hash);
    this.#hashes.add(hash);
    const [oldest] = this.#hashes;
    if (this.#hashes.size > MAX_CREDENTIALS && oldest !== undefined) this.#hashes.delete(oldest);
  }

  delete(authorization: string): void {
    this.#hashes.delete(hashOf(authorization));
  }
}

function hashOf(authorization: string): string {
  return createHash('sha256').update(authorization).digest('base64');
}
