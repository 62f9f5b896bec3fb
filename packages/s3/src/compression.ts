import { Transform, type Readable } from 'node:stream';
import { promisify } from 'node:util';
import { createGunzip, gunzip, gunzipSync, gzip, gzipSync, type ZlibOptions } from 'node:zlib';
import type { ContentEncoding } from '@pasteflow/domain';
import type { StoredObject } from './object-requests.ts';

/** For shorter content the bytes that are saved are fewer than those of the object's metadata. */
const MIN_BYTES = 512;

/** An object that isn't at least a tenth smaller than its content isn't worth the time of each read. */
const MAX_SHARE = 0.9;

/**
 * Of the levels of gzip, 4 takes three fifths of the time of the default, 6, for objects that are 3 % larger.
 */
const LEVEL = 4;

/**
 * Content of up to this size is compressed at once, within 0.7 ms, which costs less than handing them to a
 * thread.
 */
const MAX_SYNC_GZIP_BYTES = 64 * 1024;

/** zlib cannot use the last bytes of its window (MIN_LOOKAHEAD). */
const WINDOW_RESERVE = 262;

/** The header, the checksum and the length of gzip, and five bytes for each stored block. */
const HEADER_BYTES = 64;

/**
 * The greatest window of gzip, as a power of two, and the greatest level of its memory. Both are the
 * defaults.
 */
const [MAX_WINDOW_BITS, MAX_MEMORY_LEVEL] = [15, 8];

const gzipInThread = promisify(gzip);

/** Compresses content with gzip. @returns null when that doesn't pay */
export async function compress(content: Buffer): Promise<Buffer | null> {
  if (content.length < MIN_BYTES) return null;
  const options = optionsFor(content.length);
  const compressed =
    content.length <= MAX_SYNC_GZIP_BYTES ? gzipSync(content, options) : await gzipInThread(content, options);
  return compressed.length <= content.length * MAX_SHARE ? compressed : null;
}

/**
 * A window and a memory as large as the content needs. They change no byte of the result. By default gzip
 * takes 256 KiB and a buffer of 16 KiB, even for 2 KB. V8 counts this memory, and collects the whole heap
 * because of it.
 */
function optionsFor(bytes: number): ZlibOptions {
  const windowBits = Math.min(Math.ceil(Math.log2(bytes + WINDOW_RESERVE)), MAX_WINDOW_BITS);
  return {
    level: LEVEL,
    windowBits,
    memLevel: Math.min(windowBits - 6, MAX_MEMORY_LEVEL),
    chunkSize: Math.min(bytes + HEADER_BYTES, MAX_SYNC_GZIP_BYTES),
  };
}

/**
 * Content of up to this size is decompressed at once, within 0.7 ms, which costs less than handing them to a
 * thread.
 */
const MAX_SYNC_GUNZIP_BYTES = 256 * 1024;

const gunzipInThread = promisify(gunzip);

/** The object is no gzip of content of the expected size. */
export class DamagedObjectError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'DamagedObjectError';
  }
}

/**
 * The content of a whole object.
 * @param size of the content: no more memory than this is taken, whatever the object says
 * @throws DamagedObjectError
 */
export async function decompress(
  object: Buffer,
  encoding: ContentEncoding | null,
  size: number,
): Promise<Buffer> {
  if (encoding === null) return assertSize(object, size);
  const options = { maxOutputLength: size };
  let content: Buffer;
  try {
    content =
      size <= MAX_SYNC_GUNZIP_BYTES ? gunzipSync(object, options) : await gunzipInThread(object, options);
  } catch (cause) {
    throw new DamagedObjectError('The compressed object is damaged.', { cause });
  }
  return assertSize(content, size);
}

function assertSize(content: Buffer, size: number): Buffer {
  if (content.length === size) return content;
  throw new DamagedObjectError(`The object has ${content.length} bytes of content instead of ${size}.`);
}

export interface RangeOfContent {
  /** The first and the last byte, both included. */
  readonly start: number;
  readonly end: number;
  /** Of the whole content. */
  readonly size: number;
}

/**
 * A range of the content of an open, whole object, which is decompressed on the way. What precedes the range
 * is read and dropped, and reading stops at its end. A range that ends with the content ends only after the
 * checksum was right: the last piece is held back until then, so that the reader of a damaged object sees an
 * incomplete transfer. Destroying the result destroys the body of the object.
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
