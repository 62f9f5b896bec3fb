/** Minimum interval of writes in ms, so that a job that reports a thousand times a second causes no load. */
const WRITE_EVERY_MS = 1000;

/**
 * The progress of one attempt: many reports, few writes. It never decreases; across attempts the database
 * ensures that.
 */
export class Progress {
  readonly #options;
  #percent = 0;
  #message: string | null = null;
  /** Whether a report has not been written yet. */
  #due = false;
  #ended = false;
  #ignored = false;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  #wroteAt = -Infinity;

  constructor(options: {
    /**
     * Percent is 0 to 100. A null message keeps the stored one. Resolves to false when the progress was
     * ignored.
     */
    readonly write: (percent: number, message: string | null) => Promise<boolean>;
    /** Called once: abandoned work may report a thousand times a second. */
    readonly onIgnored: () => void;
    readonly onError: (error: unknown) => void;
  }) {
    this.#options = options;
  }

  /** Never throws or waits. A percentage below the last one, or NaN, keeps the last one. */
  report(percent: number, message?: string): void {
    if (this.#ended) return this.#ignore();
    const isNew = percent > this.#percent || (message !== undefined && message !== this.#message);
    if (!isNew) return;
    if (percent > this.#percent) this.#percent = percent;
    if (message !== undefined) this.#message = message;
    this.#due = true;
    this.#schedule();
  }

  /** To be called when the work has ended. Later reports are ignored. `flush` writes the last one. */
  end(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
  }

  /** Writes the last report if it has not been written. @throws when Postgres does not answer */
  async flush(): Promise<void> {
    await this.#writing;
    if (this.#due) await this.#write();
  }

  #ignore(): void {
    if (!this.#ignored) this.#options.onIgnored();
    this.#ignored = true;
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#writing !== undefined) return;
    const wait = this.#wroteAt + WRITE_EVERY_MS - performance.now();
    if (wait <= 0) this.#begin();
    else this.#timer = setTimeout(() => this.#begin(), wait);
  }

  #begin(): void {
    this.#timer = undefined;
    this.#writing = this.#write()
      .catch(this.#options.onError)
      .finally(() => {
        this.#writing = undefined;
        if (this.#due && !this.#ended) this.#schedule();
      });
  }

  async #write(): Promise<void> {
    this.#wroteAt = performance.now();
    this.#due = false;
    try {
      if (!(await this.#options.write(this.#percent, this.#message))) this.#ignore();
    } catch (error) {
      this.#due = true;
      throw error;
    }
  }
}
