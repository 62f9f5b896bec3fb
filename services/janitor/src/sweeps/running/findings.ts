/** The short codes or keys that a log line of a run lists. Its `count` has the full number. */
export const MAX_NAMED = 100;

/** Counts findings, and keeps the names of the first 100. */
export class Findings {
  count = 0;
  readonly named: string[] = [];

  add(names: readonly string[]): void {
    this.count += names.length;
    this.named.push(...names.slice(0, MAX_NAMED - this.named.length));
  }
}
