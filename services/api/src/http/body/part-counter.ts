import { freeMemory } from './body-bytes.ts';

const CR = 0x0d;
const LF = 0x0a;
const LINE_AND_DASHES = Buffer.from('\n--');
const LINE = Buffer.from('\r\n');
const BLANKS: ReadonlySet<number> = new Set([CR, LF, 0x20, 0x09]);

/**
 * Counts the delimiters of a multipart body (RFC 2046, 5.1.1) as it arrives, and finds what the parser would
 * skip without a word: a delimiter that is written in another way, and text before the first and after the
 * last one. Each byte is examined at most twice, because the boundary has no LF.
 */
export class PartCounter {
  readonly #delimiter: Buffer;
  /** The end of the chunks so far, in which a delimiter may have begun. */
  #rest: Buffer = LINE;
  #delimiters = 0;
  #isClosed = false;
  #isMalformed = false;

  constructor(boundary: string) {
    this.#delimiter = Buffer.from(`\n--${boundary}`, 'latin1');
  }

  /** Whether a part of the body would be lost. */
  get isMalformed(): boolean {
    return this.#isMalformed;
  }

  /** The parts between the delimiters so far. */
  get parts(): number {
    return this.#delimiters - 1;
  }

  /**
   * @returns the delimiters so far, the one at the end of the body included; counts until `max` is exceeded
   */
  count(chunk: Buffer, max: number): number {
    const { length } = this.#delimiter;
    const arrived = Buffer.concat([this.#rest, chunk]);
    const bytes = this.#delimiters === 0 ? fromFirstLine(arrived) : arrived;
    if (this.#isClosed) this.#readEnd(bytes);
    let from = 1; // the byte before was searched already
    while (!this.#isClosed && this.#delimiters <= max) {
      const at = bytes.indexOf(LINE_AND_DASHES, from);
      if (at === -1 || at + length + 2 > bytes.length) break;
      if (bytes.compare(this.#delimiter, 0, length, at, at + length) === 0) this.#readDelimiter(bytes, at);
      from = at + LINE_AND_DASHES.length;
    }
    if (this.#delimiters === 0 && bytes.length >= length + 3) this.#isMalformed = true;
    this.#rest = Buffer.from(this.#isClosed ? [] : bytes.subarray(Math.max(0, bytes.length - length - 2)));
    freeMemory(arrived);
    return this.#delimiters;
  }

  #readDelimiter(bytes: Buffer, at: number): void {
    const end = at + this.#delimiter.length;
    const next = bytes.toString('latin1', end, end + 2);
    const isFirst = this.#delimiters === 0;
    this.#delimiters += 1;
    if (bytes[at - 1] !== CR || (isFirst && at !== 1)) this.#isMalformed = true;
    if (next !== '\r\n' && next !== '--') this.#isMalformed = true;
    if (next !== '--') return;
    this.#isClosed = true;
    this.#readEnd(bytes.subarray(end + 2));
  }

  #readEnd(bytes: Buffer): void {
    if (!bytes.every((byte) => BLANKS.has(byte))) this.#isMalformed = true;
  }
}

/** The body from its first line on, as if a newline came before it. Some clients begin with an empty line. */
function fromFirstLine(bytes: Buffer): Buffer {
  const start = bytes.findIndex((byte) => byte !== CR && byte !== LF);
  return Buffer.concat([LINE, start === -1 ? Buffer.alloc(0) : bytes.subarray(start)]);
}
