import type { Sample } from '@pasteflow/runtime';

/**
 * What one source said when it last answered. Old figures are worse than none: every janitor shows the database's, and the greatest counts,
 * so that one that can't read any more would keep an alert up, or another one's figures down.
 */
export class Reading {
  readonly #maxAgeMs: number;
  readonly #nowMs: () => number;
  #samples: Readonly<Record<string, readonly Sample[]>> = {};
  #readAtMs = -Infinity;

  /** @param nowMs a clock that never goes back */
  constructor(maxAgeMs: number, nowMs: () => number) {
    this.#maxAgeMs = maxAgeMs;
    this.#nowMs = nowMs;
  }

  /** @param samples by metric, all that the source has */
  replace(samples: Readonly<Record<string, readonly Sample[]>>): void {
    this.#samples = samples;
    this.#readAtMs = this.#nowMs();
  }

  /** None when it isn't this source's, was never read, or was read too long ago. */
  of(metric: string): readonly Sample[] {
    return this.#nowMs() - this.#readAtMs > this.#maxAgeMs ? [] : (this.#samples[metric] ?? []);
  }
}
