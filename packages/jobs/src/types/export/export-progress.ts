import { countPastes, type Database, type ExportFilter } from '@pasteflow/postgres';

/** Counting is an index-only scan. For more pastes than this it takes too long. */
const MAX_COUNTED = 100_000;

/** Estimates the progress of an export: from the number of pastes if they were counted, otherwise from their creation times. */
export class ExportProgress {
  readonly #total: number | null;
  readonly #until: number;
  #since: number | undefined;

  /** @param total approximate number of pastes; null: more than MAX_COUNTED @param until no paste was created later */
  constructor(total: number | null, until: Date) {
    this.#total = total;
    this.#until = until.getTime();
  }

  static async begin(
    db: Database,
    filter: ExportFilter & { readonly createdBefore: Date },
  ): Promise<ExportProgress> {
    const counted = await countPastes(db, filter, MAX_COUNTED);
    return new ExportProgress(counted < MAX_COUNTED ? counted : null, filter.createdBefore);
  }

  /** 0 to 99 after `done` pastes, the last of them created at `createdAt`. The last percent is the end of the archive. */
  percentAt(done: number, createdAt: Date): number {
    this.#since ??= createdAt.getTime();
    const part =
      this.#total === null
        ? (createdAt.getTime() - this.#since) / Math.max(this.#until - this.#since, 1)
        : done / Math.max(this.#total, 1);
    return 99 * Math.min(part, 1);
  }
}
