import { countPastes, type Database, type ExportFilter } from '@pasteflow/postgres';

/** Counting reads an index alone; beyond so many it isn't worth its time. */
const MAX_COUNTED = 100_000;

/** Tells how far an export is: by the number of pastes where that was counted, else by when they were made. */
export class ExportProgress {
  readonly #total: number | null;
  readonly #until: number;
  #since: number | undefined;

  /** @param total of pastes, about; null: very many @param until when the last of them was made, at the latest */
  constructor(total: number | null, until: Date) {
    this.#total = total;
    this.#until = until.getTime();
  }

  /** @param filter with an end */
  static async begin(
    db: Database,
    filter: ExportFilter & { readonly createdBefore: Date },
  ): Promise<ExportProgress> {
    const counted = await countPastes(db, filter, MAX_COUNTED);
    return new ExportProgress(counted < MAX_COUNTED ? counted : null, filter.createdBefore);
  }

  /** From 0 to 99, when so many are done, the last of them made then: what is left is the archive's end. */
  percentAt(done: number, createdAt: Date): number {
    this.#since ??= createdAt.getTime();
    const part =
      this.#total === null
        ? (createdAt.getTime() - this.#since) / Math.max(this.#until - this.#since, 1)
        : done / Math.max(this.#total, 1);
    return 99 * Math.min(part, 1);
  }
}
