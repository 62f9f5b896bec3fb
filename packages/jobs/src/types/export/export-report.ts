import type { MadeArchive, Place } from '@pasteflow/postgres';
import type { JobEnding } from '../../job-type.ts';
import type { Outcome } from './outcomes.ts';

/** Maximum number of missing pastes that are listed, of all archives. All are counted. */
const MAX_MISSING = 1000;

/** What is stored with an archive: what has become of its pastes, and the place behind which the next begins. */
export interface Checkpoint {
  readonly exported: number;
  readonly missing: readonly MissingPaste[];
  readonly missing_count: number;
  readonly left_out: number;
  /** null: there was no paste. */
  readonly after: Place | null;
}

interface MissingPaste {
  readonly short_code: string;
  readonly reason: string;
}

const NOTHING: Checkpoint = { exported: 0, missing: [], missing_count: 0, left_out: 0, after: null };

/** Counts the exported, the missing and the left out pastes, and derives how the export ends. */
export class ExportReport {
  #archives = 0;
  #bytes = 0;
  /** In the archives. */
  #done: Checkpoint = NOTHING;
  /** Behind the last archive. */
  #now: Checkpoint = NOTHING;

  /** @param archives what earlier attempts have made */
  constructor(archives: readonly MadeArchive<Checkpoint>[]) {
    for (const { bytes, checkpoint } of archives) {
      this.#now = checkpoint;
      this.archived(bytes);
    }
  }

  /** A paste has had its turn. */
  add(outcome: Outcome): void {
    const { missing } = this.#now;
    const { shortCode: short_code, place: after } = outcome.paste;
    switch (outcome.kind) {
      case 'content':
        this.#now = { ...this.#now, after, exported: this.#now.exported + 1 };
        break;
      case 'missing':
        this.#now = {
          ...this.#now,
          after,
          missing_count: this.#now.missing_count + 1,
          missing:
            this.#done.missing.length + missing.length < MAX_MISSING
              ? [...missing, { short_code, reason: outcome.reason }]
              : missing,
        };
        break;
      case 'left_out':
        this.#now = { ...this.#now, after, left_out: this.#now.left_out + 1 };
        break;
      case 'gone':
        this.#now = { ...this.#now, after };
        break;
      default:
        outcome satisfies never;
    }
  }

  /** Of an archive that ends here. */
  get checkpoint(): Checkpoint {
    return { ...this.#now, after: this.place };
  }

  /** An archive has ended here. */
  archived(bytes: number): void {
    this.#archives += 1;
    this.#bytes += bytes;
    this.#done = this.#sum;
    this.#now = NOTHING;
  }

  get archives(): number {
    return this.#archives;
  }

  /** Of the last paste that has had its turn; null: none has. */
  get place(): Place | null {
    return this.#now.after ?? this.#done.after;
  }

  /** The pastes that have had their turn, without those that are left out or gone. */
  get handled(): number {
    return this.#done.exported + this.#done.missing_count + this.#now.exported + this.#now.missing_count;
  }

  /** There is no archive, and no paste is missing: the user gets an archive without files. */
  get needsEmptyArchive(): boolean {
    return this.#archives === 0 && !this.#isAllMissing;
  }

  /** Whether there were pastes and none of them had content. */
  get #isAllMissing(): boolean {
    const { exported, missing_count: missing } = this.#sum;
    return exported === 0 && missing > 0;
  }

  get #sum(): Checkpoint {
    return {
      exported: this.#done.exported + this.#now.exported,
      missing: [...this.#done.missing, ...this.#now.missing],
      missing_count: this.#done.missing_count + this.#now.missing_count,
      left_out: this.#done.left_out + this.#now.left_out,
      after: this.place,
    };
  }

  ending(): JobEnding {
    const { after: _, ...counts } = this.#sum;
    const result = { ...counts, archives: this.#archives, bytes: this.#bytes };
    const { missing_count: missing } = counts;
    if (missing === 0) return { status: 'completed', result };
    const error = `The content of ${missing} of ${this.handled} pastes is missing; result.missing says why.`;
    return { status: this.#isAllMissing ? 'failed' : 'partial', result, error };
  }
}
