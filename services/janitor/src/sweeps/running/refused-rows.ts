import { isTimeout } from '@pasteflow/postgres';

/** A row that Postgres refuses to a sweep. */
export interface RefusedRow {
  /** Its table and its id. */
  readonly row: string;
  readonly error: string;
  readonly failures: number;
}

/** A refused row is tried again after a minute, then after 2, 4, 8 … minutes, and at least each hour. */
const FIRST_WAIT_MS = 60_000;
const MAX_WAIT_MS = 3_600_000;

const MAX_ERROR_CHARACTERS = 200;

interface Remembered {
  readonly table: string;
  readonly id: string;
  readonly error: string;
  readonly failures: number;
  readonly retryAtMs: number;
}

/**
 * The rows that Postgres refuses to one sweep, which stop no others: later runs leave them out, and try them
 * ever more rarely. Only this process remembers them, because the row itself can't be written.
 */
export class RefusedRows {
  readonly #nowMs: () => number;
  #rows = new Map<string, Remembered>();
  /** When the run began. */
  #beganAtMs = 0;

  /** @param nowMs a monotonic clock */
  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  begin(): void {
    this.#beganAtMs = this.#nowMs();
  }

  /** To be called after a complete run: forgets the rows that it has tried again with success. */
  end(): void {
    for (const [key, { retryAtMs }] of this.#rows) if (retryAtMs <= this.#beganAtMs) this.#rows.delete(key);
  }

  /** The ids of the rows of a table that this run leaves out. */
  waiting(table: string): readonly string[] {
    return [...this.#rows.values()]
      .filter((each) => each.table === table && each.retryAtMs > this.#beganAtMs)
      .map(({ id }) => id);
  }

  /** A callback for `inHalves`. A row that was locked for too long is only left to the next run. */
  of(table: string): (id: string, error: unknown) => void {
    return (id, error) => {
      if (isTimeout(error)) return;
      const key = `${table} ${id}`;
      const failures = (this.#rows.get(key)?.failures ?? 0) + 1;
      const waitMs = Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (failures - 1));
      const text = Error.isError(error) ? error.message : String(error);
      this.#rows.set(key, {
        table,
        id,
        error: text.slice(0, MAX_ERROR_CHARACTERS),
        failures,
        retryAtMs: this.#nowMs() + waitMs,
      });
    };
  }

  /** All of them, those that were refused most often first. */
  list(): readonly RefusedRow[] {
    return [...this.#rows]
      .map(([row, { error, failures }]) => ({ row, error, failures }))
      .toSorted((a, b) => b.failures - a.failures);
  }
}
