import type { JobEnding } from '../../definition/job-type.ts';

/** Maximum number of errors that are listed. All are counted. */
const MAX_ERRORS = 1000;

const MAX_NAME_CHARACTERS = 100;
const MAX_REASON_CHARACTERS = 200;

interface EntryError {
  /** The index of the entry, from 0: in `items`, or the number of its line or of its file in the archive. */
  readonly position: number;
  /** The path of a file in an archive; otherwise null. */
  readonly name: string | null;
  readonly reason: string;
}

/** Counts the imported and the failed entries, and derives how the import ends. */
export class ImportReport {
  #imported = 0;
  #failed = 0;
  readonly #errors: EntryError[] = [];

  imported(count: number): void {
    this.#imported += count;
  }

  invalid(position: number, name: string | null, reason: string): void {
    this.#failed += 1;
    if (this.#errors.length >= MAX_ERRORS) return;
    this.#errors.push({
      position,
      name: name && cut(name, MAX_NAME_CHARACTERS),
      reason: cut(reason, MAX_REASON_CHARACTERS),
    });
  }

  get handled(): number {
    return this.#imported + this.#failed;
  }

  ending(): JobEnding {
    const [imported, failed] = [this.#imported, this.#failed];
    const result = { imported, failed, errors: this.#errors };
    if (failed === 0) return { status: 'completed', result };
    const error = `${failed} of ${imported + failed} entries are not valid pastes; result.errors says why.`;
    return { status: imported > 0 ? 'partial' : 'failed', result, error };
  }

  /** The ending when the import as a whole is refused. */
  refused(error: string): JobEnding {
    const [imported, failed] = [this.#imported, this.#failed];
    const result = { imported, failed, errors: this.#errors };
    return { status: imported > 0 ? 'partial' : 'failed', result, error };
  }
}

function cut(text: string, characters: number): string {
  const all = Array.from(text);
  return all.length <= characters ? text : `${all.slice(0, characters - 1).join('')}…`;
}
