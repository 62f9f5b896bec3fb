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
