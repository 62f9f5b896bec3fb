/** Wrong tokens of one address within a window. */
const MAX_GUESSES = 10;
const WINDOW_MS = 60_000;

/** Addresses that are remembered. An attacker with more of them has all guesses of one window, which is far too few. */
const MAX_ADDRESSES = 1000;

interface Guesses {
  count: number;
  readonly sinceMs: number;
}

/** After ten wrong tokens within a minute, no token of the address is looked at until the minute is over. */
export class GuessLimit {
  readonly #guesses = new Map<string, Guesses>();
  readonly #nowMs: () => number;

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /** Seconds to wait before the next guess; 0: none. */
  secondsToWait(address: string): number {
    const guesses = this.#current(address);
    if (guesses === undefined || guesses.count < MAX_GUESSES) return 0;
    return Math.ceil((guesses.sinceMs + WINDOW_MS - this.#nowMs()) / 1000);
  }

  wrong(address: string): void {
    const guesses = this.#current(address);
    if (guesses !== undefined) {
      guesses.count += 1;
      return;
    }
    const [oldest] = this.#guesses.keys();
    if (this.#guesses.size >= MAX_ADDRESSES && oldest !== undefined) this.#guesses.delete(oldest);
    this.#guesses.set(address, { count: 1, sinceMs: this.#nowMs() });
  }

  #current(address: string): Guesses | undefined {
    const guesses = this.#guesses.get(address);
    if (guesses !== undefined && this.#nowMs() - guesses.sinceMs >= WINDOW_MS) {
      this.#guesses.delete(address);
      return undefined;
    }
    return guesses;
  }
}
