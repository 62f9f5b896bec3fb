import { pipeline, Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { createGunzip } from 'node:zlib';
import { inPieces } from '../export/archive-formats.ts';
import { InflationBudget, SourceRefusedError } from './archive-rules.ts';
import { isTarHeader, isZero } from './tar-header.ts';

const NOTHING = Buffer.alloc(0);

/**
 * Reads requested numbers of bytes from a stream of pieces. Holds one piece and requests the next one only
 * when it is needed. Between two pieces it yields to the event loop and checks the signal.
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

  /**
   * Returns the next `bytes` bytes, or null at the end.
   * @throws SourceRefusedError when the source is shorter
   * @throws the signal's reason
   */
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

export const PIECE_BYTES = 64 * 1024;
const INFLATED_PIECE_BYTES = 256 * 1024;

/**
 * Decompresses a gzip. Several members in sequence are one stream (RFC 1952). Zeros after the last member are
 * padding, as on tapes; any other bytes after it are refused.
 */
export async function* gunzipInPieces(source: Buffer): AsyncGenerator<Buffer> {
  const budget = new InflationBudget(source.length);
  const gunzip = createGunzip({ chunkSize: INFLATED_PIECE_BYTES });
  pipeline(Readable.from(inPieces(source, PIECE_BYTES)), gunzip, () => {}); // the loop below throws its error
  for await (const piece of gunzip as AsyncIterable<Buffer>) {
    budget.spend(piece.length);
    yield piece;
  }
  if (!isZero(source.subarray(gunzip.bytesWritten)))
    throw new SourceRefusedError('it has other bytes after its gzip');
}

export type SourceFormat = 'zip' | 'tar.gz' | 'tar' | 'ndjson';

/**
 * Signatures at the start of a zip: of its first file, of the end record of an empty zip, and of a split zip.
 */
const ZIP_SIGNATURES = new Set([0x04034b50, 0x06054b50, 0x08074b50]);

/** Detects the format from the first bytes. @returns null for a format that cannot be imported */
export function detectFormat(source: Buffer): SourceFormat | null {
  if (source[0] === 0x1f && source[1] === 0x8b) return 'tar.gz';
  if (source.length >= 4 && ZIP_SIGNATURES.has(source.readUInt32LE(0))) return 'zip';
  if (isTarHeader(source)) return 'tar';
  return /^(?:\xef\xbb\xbf)?\s*\{/.test(source.toString('latin1', 0, 1000)) ? 'ndjson' : null;
}
