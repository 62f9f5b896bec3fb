import { Writable } from 'node:stream';

/**
 * A pipe takes so many bytes at once, or none (PIPE_BUF), so that the lines of processes that share it don't mix.
 * Beyond it lines don't wait for the end of their turn; one that is longer goes alone.
 */
const MAX_HELD_BYTES = 4096;

/**
 * Lines for a stream that may refuse them: its reader is gone, or the disk is full. Lines that are refused are
 * counted. `onRegained` is called when lines are written again.
 *
 * The lines of one turn of the event loop are written together, because each write is a call of the kernel.
 */
export class LossyOutput extends Writable {
  readonly #target: NodeJS.WritableStream;
  readonly #onRegained: (lostLines: number) => void;
  /** The lines of this turn. */
  #held = '';
  #heldBytes = 0;
  #heldLines = 0;
  #lostLines = 0;
  #isLosing = false;
  #isScheduled = false;

  constructor(target: NodeJS.WritableStream, onRegained: (lostLines: number) => void) {
    super({ decodeStrings: false });
    this.#target = target;
    this.#onRegained = onRegained;
  }

  /** Since the start. */
  get lostLines(): number {
    return this.#lostLines;
  }

  override _write(line: string, _encoding: BufferEncoding, done: () => void): void {
    const bytes = Buffer.byteLength(line);
    if (this.#heldBytes + bytes > MAX_HELD_BYTES) this.flush();
    if (!this.#isScheduled) setImmediate(() => this.#endTurn());
    this.#isScheduled = true;
    this.#held += line;
    this.#heldBytes += bytes;
    this.#heldLines += 1;
    done();
  }

  #endTurn(): void {
    this.#isScheduled = false;
    this.flush();
  }

  /** Writes the lines of this turn now. To be called when the process exits. */
  flush(): void {
    const [text, lines] = [this.#held, this.#heldLines];
    if (lines === 0) return;
    this.#held = '';
    this.#heldBytes = 0;
    this.#heldLines = 0;
    this.#target.write(text, (error) => this.#settle(error ?? null, lines));
  }

  #settle(error: Error | null, lines: number): void {
    const regained = this.#isLosing && error === null;
    this.#isLosing = error !== null;
    if (error !== null) this.#lostLines += lines;
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
