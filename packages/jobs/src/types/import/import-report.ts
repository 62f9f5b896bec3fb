import type { JobEnding } from '../../job-type.ts';

/** Maximum number of errors, and of skipped files, that are listed. All are counted. */
const MAX_LISTED = 1000;

const MAX_NAME_CHARACTERS = 100;
const MAX_REASON_CHARACTERS = 200;

interface NamedPlace {
  /** The index of the entry, from 0: in `items`, or the number of its line or of its file in the archive. */
  readonly position: number;
  /** The path of a file in an archive; otherwise null. */
  readonly name: string | null;
}

interface EntryError extends NamedPlace {
  readonly reason: string;
}

/** Counts the imported, the failed and the skipped entries, and derives how the import ends. */
export class ImportReport {
  #imported = 0;
  #importedEarlier = 0;
  #failed = 0;
  #skipped = 0;
  readonly #errors: EntryError[] = [];
  readonly #skippedFiles: NamedPlace[] = [];

  imported(count: number): void {
    this.#imported += count;
  }

  /** By the jobs that this one retries. */
  importedEarlier(count: number): void {
    this.#importedEarlier += count;
  }

  invalid(position: number, name: string | null, reason: string): void {
    this.#failed += 1;
    if (this.#errors.length >= MAX_LISTED) return;
    this.#errors.push({
      position,
      name: shortened(name),
      reason: cut(reason, MAX_REASON_CHARACTERS),
    });
  }

  /** A file that macOS has added to the archive. */
  skipped(position: number, name: string | null): void {
    this.#skipped += 1;
    if (this.#skippedFiles.length < MAX_LISTED) this.#skippedFiles.push({ position, name: shortened(name) });
  }

  get handled(): number {
    return this.#imported + this.#importedEarlier + this.#failed + this.#skipped;
  }

  ending(): JobEnding {
    const [imported, failed] = [this.#imported, this.#failed];
    if (failed === 0) return { status: 'completed', result: this.#result() };
    const error = `${failed} of ${imported + failed} entries are not valid pastes; result.errors says why.`;
    return { status: imported > 0 ? 'partial' : 'failed', result: this.#result(), error };
  }

  /** The ending when the import as a whole is refused. */
  refused(error: string): JobEnding {
    return { status: this.#imported > 0 ? 'partial' : 'failed', result: this.#result(), error };
  }

  #result() {
    return {
      imported: this.#imported,
      failed: this.#failed,
      errors: this.#errors,
      ...(this.#importedEarlier > 0 && { imported_earlier: this.#importedEarlier }),
      ...(this.#skipped > 0 && { skipped: this.#skipped, skipped_files: this.#skippedFiles }),
    };
  }
}

function shortened(name: string | null): string | null {
  return name && cut(name, MAX_NAME_CHARACTERS);
}

function cut(text: string, characters: number): string {
  const all = Array.from(text);
  return all.length <= characters ? text : `${all.slice(0, characters - 1).join('')}…`;
}
