import { countPastes, type Database, type ExportFilter } from '@pasteflow/postgres';

/** Counting is an index-only scan. For more pastes than this it takes too long. */
const MAX_COUNTED = 100_000;

/**
 * Estimates the progress of an export: from the number of pastes if they were counted, otherwise from their
 * creation times, beginning with what earlier attempts have reached.
 */
export class ExportProgress {
  readonly #total: number | null;
  readonly #until: number;
  readonly #reached: number;
  #since: number | undefined;

  /**
   * @param total approximate number of pastes; null: more than MAX_COUNTED
   * @param until no paste was created later
   * @param reached by earlier attempts, in per cent
   */
  constructor(total: number | null, until: Date, reached: number) {
    this.#total = total;
    this.#until = until.getTime();
    this.#reached = reached;
  }

  static async begin(
    db: Database,
    filter: ExportFilter & { readonly createdBefore: string },
    reached: number,
  ): Promise<ExportProgress> {
    const counted = await countPastes(db, filter, MAX_COUNTED);
    return new ExportProgress(
      counted < MAX_COUNTED ? counted : null,
      new Date(filter.createdBefore),
      reached,
    );
  }

  /**
   * 0 to 99 after `done` pastes of all attempts, the last of them created at `createdAt`. The last percent is
   * the end of the archive.
   */
  percentAt(done: number, createdAt: Date): number {
    if (this.#total !== null) return 99 * Math.min(done / Math.max(this.#total, 1), 1);
    this.#since ??= createdAt.getTime();
    const part = (createdAt.getTime() - this.#since) / Math.max(this.#until - this.#since, 1);
    return this.#reached + Math.max(99 - this.#reached, 0) * Math.min(part, 1);
  }
}
