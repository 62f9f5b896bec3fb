import { setImmediate as turn } from 'node:timers/promises';
import type { Clock } from '../../src/live/change-poller.ts';

/** A clock that moves only when the test says so. */
export class FakeClock implements Clock {
  #now = 0;
  readonly #timers = new Map<symbol, { readonly at: number; readonly run: () => void }>();

  /** The number of timers that are set. */
  get timers(): number {
    return this.#timers.size;
  }

  now(): number {
    return this.#now;
  }

  after(ms: number, run: () => void): () => void {
    const key = Symbol('timer');
    this.#timers.set(key, { at: this.#now + ms, run });
    return () => void this.#timers.delete(key);
  }

  /** Runs all timers of this period, each at its time. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    for (;;) {
      await turn();
      const [next] = [...this.#timers].toSorted(([, a], [, b]) => a.at - b.at);
      if (next === undefined || next[1].at > end) break;
      this.#timers.delete(next[0]);
      this.#now = Math.max(this.#now, next[1].at);
      next[1].run();
    }
    this.#now = end;
  }
}
