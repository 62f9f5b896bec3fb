import type { Sample } from '@pasteflow/runtime';

/**
 * The last samples of one source. They expire: every janitor reports the figures of the same database, and the alerts take the greatest, so a
 * janitor that can no longer read would keep an alert firing, or hide newer figures of another janitor.
 */
export class Reading {
  readonly #maxAgeMs: number;
  readonly #nowMs: () => number;
  #samples: Readonly<Record<string, readonly Sample[]>> = {};
  #readAtMs = -Infinity;

  /** @param nowMs a monotonic clock */
  constructor(maxAgeMs: number, nowMs: () => number) {
    this.#maxAgeMs = maxAgeMs;
    this.#nowMs = nowMs;
  }

  /** @param samples all samples of the source, by metric */
  replace(samples: Readonly<Record<string, readonly Sample[]>>): void {
    this.#samples = samples;
    this.#readAtMs = this.#nowMs();
  }

  /** Empty when the metric is not from this source, or the source was never read, or not for too long. */
  of(metric: string): readonly Sample[] {
    return this.#nowMs() - this.#readAtMs > this.#maxAgeMs ? [] : (this.#samples[metric] ?? []);
  }
}
