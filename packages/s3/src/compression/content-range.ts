import { Transform, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { StoredObject } from '../object-requests.ts';
import { DamagedObjectError } from './decompress.ts';

export interface RangeOfContent {
  /** The first and the last byte, both included. */
  readonly start: number;
  readonly end: number;
  /** Of the whole content. */
  readonly size: number;
}

/**
 * A range of the content of an open, whole object, which is decompressed on the way. What precedes the range is read and dropped, and
 * reading stops at its end. A range that ends with the content ends only after the checksum was right: the last piece is held back until
 * then, so that the reader of a damaged object sees an incomplete transfer. Destroying the result destroys the body of the object.
 */
export function contentRange({ body, encoding }: StoredObject, range: RangeOfContent): Readable {
  const content = encoding === null ? body : body.pipe(createGunzip());
  const release = (): void => {
    content.unpipe(part);
    body.destroy();
    content.destroy();
  };
  const part = partOf(range, release);
  const fail = (error: Error): void => {
    if (!part.writableEnded) part.destroy(error); // a body that is destroyed at the end of the range reports that as an error
  };
  body.on('error', fail).once('close', () => {
    if (!body.readableEnded) fail(new Error('S3 cut the object off.'));
  });
  if (content !== body)
    content.on('error', (cause) =>
      fail(new DamagedObjectError('The compressed object is damaged.', { cause })),
    );
  // A reader may destroy the result before it listens for errors.
  part.on('error', () => {}).once('close', release);
  return content.pipe(part);
}

/** @param onEnough called when the range has ended before the content */
function partOf({ start, end, size }: RangeOfContent, onEnough: () => void): Transform {
  const endsEarly = end + 1 < size;
  let position = 0;
  let held: Buffer | null = null;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (endsEarly && position > end) return done();
      const from = Math.max(start - position, 0);
      const until = Math.min(end + 1 - position, chunk.length);
      position += chunk.length;
      if (position > size) return done(new DamagedObjectError(`The object has more than ${size} bytes.`));
      if (from < until) {
        if (held !== null) this.push(held);
        held = chunk.subarray(from, until);
      }
      if (endsEarly && position > end) {
        onEnough();
        this.end();
      }
      done();
    },
    flush(done) {
      if (position <= end) return done(new DamagedObjectError(`The object has ${position} bytes only.`));
      if (held !== null) this.push(held);
      done();
    },
  });
}
