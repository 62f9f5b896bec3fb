import { freeMemory } from './free-memory.ts';

const LINE_AND_DASHES = Buffer.from('\r\n--');

/**
 * Counts the delimiters of a multipart body (RFC 2046, 5.1.1) as it arrives. The boundary has no CR, so a
 * comparison that begins at a CR ends before the next one: each byte is examined at most twice, whatever the
 * body contains.
 */
export class PartCounter {
  readonly #delimiter: Buffer;
  /** The end of the chunks so far, in which a delimiter may have begun. A body may begin with one. */
  #rest: Buffer = Buffer.from('\r\n');
  #delimiters = 0;

  constructor(boundary: string) {
    this.#delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1');
  }

  /** @returns the delimiters so far, the one at the end of the body included; counts until `max` is exceeded */
  count(chunk: Buffer, max: number): number {
    const bytes = Buffer.concat([this.#rest, chunk]);
    let at = bytes.indexOf(LINE_AND_DASHES);
    while (at !== -1 && this.#delimiters <= max) {
      const end = at + this.#delimiter.length;
      if (end <= bytes.length && bytes.compare(this.#delimiter, 0, this.#delimiter.length, at, end) === 0)
        this.#delimiters += 1;
      at = bytes.indexOf(LINE_AND_DASHES, at + LINE_AND_DASHES.length);
    }
    this.#rest = Buffer.from(bytes.subarray(Math.max(0, bytes.length - this.#delimiter.length + 1)));
    freeMemory(bytes);
    return this.#delimiters;
  }
}
