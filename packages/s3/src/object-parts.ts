import type { Readable } from 'node:stream';
import { ObjectTooLargeError } from './errors.ts';

const MIB = 1024 * 1024;

/** The limit of S3. */
const MAX_PARTS = 10_000;

/** A part of an object, sent in one request. */
export interface Part {
  /** The first part has number 1. */
  readonly number: number;
  readonly content: Buffer;
  readonly isLast: boolean;
}

/** How an object is divided into parts. */
export interface PartPlan {
  /** Maximum number of parts. */
  readonly maxParts: number;
  /** The size of each part but the last. S3 requires at least 5 MiB. */
  readonly bytesOf: (number: number) => number;
}

/**
 * 8 MiB each, 16 MiB from the 1001st part and 32 MiB from the 2001st part on: 273 GiB in all. The size of the
 * object is not known at the start. Growing parts allow large objects, and objects of up to 8 GiB still need
 * the memory of 8 MiB parts only.
 */
export const growingParts: PartPlan = {
  maxParts: MAX_PARTS,
  bytesOf: (number) => 8 * MIB * 2 ** Math.min(Math.floor((number - 1) / 1000), 2),
};

/** The maximum size of an object with this plan, in bytes. */
export function maxBytes({ maxParts, bytesOf }: PartPlan): number {
  let bytes = 0;
  for (let number = 1; number <= maxParts; number += 1) bytes += bytesOf(number);
  return bytes;
}

/**
 * Divides `body` into parts, at least one. A part is yielded when more content follows it, so the first part
 * shows whether it is the only one.
 * @param spent buffers of finished parts, which are filled again. Garbage of this size is collected late, and
 * was most of a process's memory.
 * @throws the body's error, or ObjectTooLargeError
 */
export async function* partsOf(body: Readable, plan: PartPlan, spent: Buffer[]): AsyncGenerator<Part> {
  const nextBuffer = (bytes: number): Buffer => {
    const used = spent.pop();
    return used?.length === bytes ? used : Buffer.allocUnsafe(bytes);
  };
  let number = 1;
  let content = nextBuffer(plan.bytesOf(number));
  let filled = 0;
  for await (const piece of body as AsyncIterable<Buffer>) {
    for (let consumed = 0; consumed < piece.length;) {
      if (filled === content.length) {
        if (number === plan.maxParts) throw new ObjectTooLargeError(maxBytes(plan));
        yield { number, content, isLast: false };
        number += 1;
        content = nextBuffer(plan.bytesOf(number));
        filled = 0;
      }
      const copied = piece.copy(content, filled, consumed);
      filled += copied;
      consumed += copied;
    }
  }
  yield { number, content: content.subarray(0, filled), isLast: true };
}
