import { setImmediate as turn } from 'node:timers/promises';
import { SourceRefusedError } from './source-refused.ts';

const NOTHING = Buffer.alloc(0);

/**
 * Bytes that come in pieces, taken in the lengths that are asked for. One piece is held, and none is asked for before it is needed; between
 * two of them other work has its turn, and the signal is looked at.
 */
export class ByteSource {
  readonly #pieces: Iterator<Buffer> | AsyncIterator<Buffer>;
  readonly #signal: AbortSignal;
  #held: Buffer = NOTHING;

  constructor(pieces: Iterable<Buffer> | AsyncIterable<Buffer>, signal: AbortSignal) {
    this.#pieces =
      Symbol.asyncIterator in pieces ? pieces[Symbol.asyncIterator]() : pieces[Symbol.iterator]();
    this.#signal = signal;
  }

  /** @returns null at the end @throws SourceRefusedError when it ends before so many @throws the signal's reason */
  async take(bytes: number): Promise<Buffer | null> {
    if (this.#held.length === 0 && !(await this.#hold())) return null;
    if (this.#held.length >= bytes) return this.#upTo(bytes);
    const taken: Buffer[] = [];
    await this.pour(bytes, (piece) => taken.push(piece));
    return Buffer.concat(taken);
  }

  /** Gives so many bytes to `take`, as they come. @throws as `take` */
  async pour(bytes: number, take: (piece: Buffer) => void): Promise<void> {
    for (let left = bytes; left > 0;) {
      if (this.#held.length === 0 && !(await this.#hold())) throw new SourceRefusedError('it is cut off');
      const piece = this.#upTo(left);
      left -= piece.length;
      take(piece);
    }
  }

  /** Ends what the pieces come from. */
  async close(): Promise<void> {
    await this.#pieces.return?.();
  }

  #upTo(bytes: number): Buffer {
    const piece = this.#held.subarray(0, bytes);
    this.#held = this.#held.subarray(piece.length);
    return piece;
  }

  /** @returns false: there is no more */
  async #hold(): Promise<boolean> {
    while (this.#held.length === 0) {
      await turn();
      this.#signal.throwIfAborted();
      const next = await this.#pieces.next();
      if (next.done === true) return false;
      this.#held = next.value;
    }
    return true;
  }
}
