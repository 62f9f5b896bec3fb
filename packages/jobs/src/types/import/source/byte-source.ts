import { setImmediate as turn } from 'node:timers/promises';
import { SourceRefusedError } from './source-refused.ts';

const NOTHING = Buffer.alloc(0);

/**
 * Reads requested numbers of bytes from a stream of pieces. Holds one piece and requests the next one only when it is needed. Between two
 * pieces it yields to the event loop and checks the signal.
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

  /** Returns the next `bytes` bytes, or null at the end. @throws SourceRefusedError when the source is shorter @throws the signal's reason */
  async take(bytes: number): Promise<Buffer | null> {
    if (this.#held.length === 0 && !(await this.#hold())) return null;
    if (this.#held.length >= bytes) return this.#upTo(bytes);
    const taken: Buffer[] = [];
    await this.pour(bytes, (piece) => taken.push(piece));
    return Buffer.concat(taken);
  }

  /** Passes the next `bytes` bytes to `consume`, piece by piece. @throws as `take` */
  async pour(bytes: number, consume: (piece: Buffer) => void): Promise<void> {
    for (let left = bytes; left > 0;) {
      if (this.#held.length === 0 && !(await this.#hold())) throw new SourceRefusedError('it is truncated');
      const piece = this.#upTo(left);
      left -= piece.length;
      consume(piece);
    }
  }

  /** Ends the underlying iterator. */
  async close(): Promise<void> {
    await this.#pieces.return?.();
  }

  #upTo(bytes: number): Buffer {
    const piece = this.#held.subarray(0, bytes);
    this.#held = this.#held.subarray(piece.length);
    return piece;
  }

  /** @returns false at the end of the source */
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
