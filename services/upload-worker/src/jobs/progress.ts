export interface ProgressOptions {
  /** Percent is a number from 0 to 100; a message of null leaves the one that is there. Answers false when it was ignored (J4). */
  readonly write: (percent: number, message: string | null) => Promise<boolean>;
  /** Told once: work that goes on after its end may report a thousand times a second. */
  readonly onIgnored: () => void;
  readonly onError: (error: unknown) => void;
}

/** Between two writes, in ms: what people watch needs no more, and a job that reports a thousand times a second is no load. */
const WRITE_EVERY_MS = 1000;

/** One attempt's progress: many reports, few writes. It never goes backwards; the database sees to that across attempts. */
export class Progress {
  readonly #options: ProgressOptions;
  #percent = 0;
  #message: string | null = null;
  /** Something was reported that isn't written yet. */
  #due = false;
  #ended = false;
  #ignored = false;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  #wroteAt = -Infinity;

  constructor(options: ProgressOptions) {
    this.#options = options;
  }

  /** Never throws and never waits. What is behind the last report counts as that one; so does what isn't a number. */
  report(percent: number, message?: string): void {
    if (this.#ended) return this.#ignore();
    const isNew = percent > this.#percent || (message !== undefined && message !== this.#message);
    if (!isNew) return;
    if (percent > this.#percent) this.#percent = percent;
    if (message !== undefined) this.#message = message;
    this.#due = true;
    this.#schedule();
  }

  /** The work has ended: what it reports from now on is ignored, and what it has reported waits for `flush`. */
  end(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
  }

  /** Writes the last report, unless it is written. @throws when Postgres doesn't answer */
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
