/**
 * The minimum rate of a client that reads an answer. A client begins with the credit of a minute. While it
 * has unread bytes, time uses up credit, and each byte that it takes earns some, up to a minute again. The
 * time is so long because a kernel buffers up to 4 MiB of a connection: a client that reads steadily takes
 * bytes from this process in steps of about 1 MiB.
 */
export class Pace {
  readonly #bytesPerMs: number;
  readonly #maxCreditMs: number;
  #creditMs: number;

  /** @param minBytesPerSecond 0: no minimum */
  constructor(minBytesPerSecond: number, maxCreditMs: number = PACE_WINDOW_MS) {
    this.#bytesPerMs = minBytesPerSecond / 1000;
    this.#maxCreditMs = maxCreditMs;
    this.#creditMs = maxCreditMs;
  }

  took(bytes: number): void {
    this.#creditMs = Math.min(this.#maxCreditMs, this.#creditMs + bytes / this.#bytesPerMs);
  }

  /** @returns false when the client is too slow */
  waited(ms: number): boolean {
    if (this.#bytesPerMs === 0) return true;
    this.#creditMs -= ms;
    return this.#creditMs > 0;
  }
}

export const PACE_WINDOW_MS = 60_000;
