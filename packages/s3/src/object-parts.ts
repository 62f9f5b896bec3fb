import type { Readable } from 'node:stream';

/**
 * S3 requires at least 5 MiB of each part but the last. S3 takes up to 10,000 parts, and versitygw on ext4, which
 * keeps their list in an attribute of 4 KiB, some 800: 6 GiB.
 */
const PART_BYTES = 8 * 1024 * 1024;

/** A part of an object, sent in one request. */
export interface Part {
  /** The first part has number 1. */
  readonly number: number;
  readonly content: Buffer;
  readonly isLast: boolean;
}

/**
 * Divides `body` into parts, at least one. A part is yielded when more content follows it, so the first part
 * shows whether it is the only one.
 * @param spent buffers of finished parts, which are filled again. Garbage of this size is collected late, and
 * was most of a process's memory.
 * @throws the body's error
 */
export async function* partsOf(body: Readable, spent: Buffer[]): AsyncGenerator<Part> {
  const nextBuffer = (): Buffer => spent.pop() ?? Buffer.allocUnsafe(PART_BYTES);
  let number = 1;
  let content = nextBuffer();
  let filled = 0;
  for await (const piece of body as AsyncIterable<Buffer>) {
    for (let consumed = 0; consumed < piece.length;) {
      if (filled === content.length) {
        yield { number, content, isLast: false };
        number += 1;
        content = nextBuffer();
        filled = 0;
      }
      const copied = piece.copy(content, filled, consumed);
      filled += copied;
      consumed += copied;
    }
  }
  yield { number, content: content.subarray(0, filled), isLast: true };
}
