import { Writable } from 'node:stream';

/**
 * Lines for a stream that may refuse them: its reader is gone, or the disk is full. A line that is refused is
 * counted. `onRegained` is called when a line is written again.
 */
export class LossyOutput extends Writable {
  readonly #target: NodeJS.WritableStream;
  readonly #onRegained: (lostLines: number) => void;
  #lostLines = 0;
  #isLosing = false;

  constructor(target: NodeJS.WritableStream, onRegained: (lostLines: number) => void) {
    super({ decodeStrings: false });
    this.#target = target;
    this.#onRegained = onRegained;
  }

  /** Since the start. */
  get lostLines(): number {
    return this.#lostLines;
  }

  /** Hands each line on at once: a line that waited here would be lost when the process exits. */
  override _write(line: string, _encoding: BufferEncoding, done: () => void): void {
    this.#target.write(line, (error) => this.#settle(error ?? null));
    done();
  }

  #settle(error: Error | null): void {
    const regained = this.#isLosing && error === null;
    this.#isLosing = error !== null;
    if (error !== null) this.#lostLines += 1;
    if (regained) this.#onRegained(this.#lostLines);
  }
}

/**
 * Lets the process go on when stdout or stderr can't be written; otherwise such an error ends it. To be
 * called once, before anything is printed.
 */
export function outliveOutput(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
}
