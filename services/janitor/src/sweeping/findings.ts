/** Short codes and keys that a run names in the log; the counts say how many there are. */
export const MAX_NAMED = 100;

/** How many there are, and the first of them by name. */
export class Findings {
  count = 0;
  readonly named: string[] = [];

  add(names: readonly string[]): void {
    this.count += names.length;
    this.named.push(...names.slice(0, MAX_NAMED - this.named.length));
  }
}
