import { seededRandom } from '@pasteflow/dev-stack/testing';

/** Numbers that depend on the seed alone. */
export class Random {
  /** Uniform in [0, 1). */
  readonly next: () => number;

  constructor(seed: number) {
    this.next = seededRandom(seed);
  }

  /** A whole number from `from` to `to`. */
  between(from: number, to: number): number {
    return from + Math.floor(this.next() * (to - from + 1));
  }

  shuffle<Item>(items: readonly Item[]): Item[] {
    return items
      .map((item) => ({ item, order: this.next() }))
      .toSorted((a, b) => a.order - b.order)
      .map(({ item }) => item);
  }
}
