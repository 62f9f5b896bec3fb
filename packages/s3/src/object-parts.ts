import type { Readable } from 'node:stream';
import { ObjectTooLargeError } from './errors.ts';

const MIB = 1024 * 1024;

/** What S3 takes of an object. */
const MAX_PARTS = 10_000;

/** A piece of an object, to be sent by itself. */
export interface Part {
  /** From 1. */
  readonly number: number;
  readonly content: Buffer;
  readonly isLast: boolean;
}

/** How an object is cut into parts. */
export interface PartPlan {
  /** How many there may be. */
  readonly maxParts: number;
  /** Of each part but the last; S3 takes none below 5 MiB. */
  readonly bytesOf: (number: number) => number;
}

/**
 * 8 MiB each, twice that from the 1001st and four times that from the 2001st on: 273 GiB in all, where nobody knows beforehand how long the
 * object will be, and the first 8 GiB take no more memory for it.
 */
export const growingParts: PartPlan = {
  maxParts: MAX_PARTS,
  bytesOf: (number) => 8 * MIB * 2 ** Math.min(Math.floor((number - 1) / 1000), 2),
};

/** The most that an object can have. */
export function maxBytes({ maxParts, bytesOf }: PartPlan): number {
  let bytes = 0;
  for (let number = 1; number <= maxParts; number += 1) bytes += bytesOf(number);
  return bytes;
}

/**
 * What `body` gives, in parts: at least one. A part is given once something follows it: who has the first knows whether it is the only one.
 * @param spent of parts that are done with, to be filled anew: garbage of their size is collected late, and was most of what a process had
 * @throws the body's error, or ObjectTooLargeError
 */
export async function* partsOf(body: Readable, plan: PartPlan, spent: Buffer[]): AsyncGenerator<Part> {
  const room = (bytes: number): Buffer => {
    const used = spent.pop();
    return used?.length === bytes ? used : Buffer.allocUnsafe(bytes);
  };
  let number = 1;
  let content = room(plan.bytesOf(number));
  let filled = 0;
  for await (const piece of body as AsyncIterable<Buffer>) {
    for (let taken = 0; taken < piece.length;) {
      if (filled === content.length) {
        if (number === plan.maxParts) throw new ObjectTooLargeError(maxBytes(plan));
        yield { number, content, isLast: false };
        number += 1;
        content = room(plan.bytesOf(number));
        filled = 0;
      }
      const copied = piece.copy(content, filled, taken);
      filled += copied;
      taken += copied;
    }
  }
  yield { number, content: content.subarray(0, filled), isLast: true };
}
