import { countPastes, type Database, type ExportFilter } from '@pasteflow/postgres';
import type { JobEnding } from '../../definition/job-type.ts';

/** Maximum number of missing pastes that are listed. All are counted. */
const MAX_MISSING = 1000;

/** Counts the exported, the missing and the left out pastes, and derives how the export ends. */
export class ExportReport {
  #exported = 0;
  #missingCount = 0;
  #leftOut = 0;
  readonly #missing: { readonly short_code: string; readonly reason: string }[] = [];

  exported(): void {
    this.#exported += 1;
  }

  missing(shortCode: string, reason: string): void {
    this.#missingCount += 1;
    if (this.#missing.length < MAX_MISSING) this.#missing.push({ short_code: shortCode, reason });
  }

  /** A paste that is deleted when it is read. */
  leftOut(): void {
    this.#leftOut += 1;
  }

  get handled(): number {
    return this.#exported + this.#missingCount;
  }

  /** Whether there were pastes and none of them had content. */
  get isAllMissing(): boolean {
    return this.#exported === 0 && this.#missingCount > 0;
  }

  /** @param bytes the size of the archive */
  ending(bytes: number): JobEnding {
    const result = {
      exported: this.#exported,
      bytes,
      missing: this.#missing,
      missing_count: this.#missingCount,
      left_out: this.#leftOut,
    };
    if (this.#missingCount === 0) return { status: 'completed', result };
    const error = `The content of ${this.#missingCount} of ${this.handled} pastes is missing; result.missing says why.`;
    return { status: this.isAllMissing ? 'failed' : 'partial', result, error };
  }
}

/** Counting is an index-only scan. For more pastes than this it takes too long. */
const MAX_COUNTED = 100_000;

/**
 * Estimates the progress of an export: from the number of pastes if they were counted, otherwise from their
 * creation times.
 */
export class ExportProgress {
  readonly #total: number | null;
  readonly #until: number;
  #since: number | undefined;

  /**
   * @param total approximate number of pastes; null: more than MAX_COUNTED
   * @param until no paste was created later
   */
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

  /**
   * 0 to 99 after `done` pastes, the last of them created at `createdAt`. The last percent is the end of the
   * archive.
   */
  percentAt(done: number, createdAt: Date): number {
    this.#since ??= createdAt.getTime();
    const part =
      this.#total === null
        ? (createdAt.getTime() - this.#since) / Math.max(this.#until - this.#since, 1)
        : done / Math.max(this.#total, 1);
    return 99 * Math.min(part, 1);
  }
}
