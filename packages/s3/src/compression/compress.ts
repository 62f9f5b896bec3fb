import { promisify } from 'node:util';
import { gzip, gzipSync } from 'node:zlib';

/** For smaller contents the bytes that are saved are fewer than those of the object's metadata. */
const MIN_BYTES = 512;

/** An object that isn't at least a tenth smaller than its content isn't worth the time of each read. */
const MAX_SHARE = 0.9;

/** Of the levels of gzip, 4 takes three fifths of the time of the default, 6, for objects that are 3 % larger (ADR 50). */
const LEVEL = 4;

/** Contents of up to this size are compressed at once, within 0.7 ms, which costs less than handing them to a thread. */
const MAX_SYNC_BYTES = 64 * 1024;

const inThread = promisify(gzip);

/** Compresses a content with gzip. @returns null when that doesn't pay */
export async function compress(content: Buffer): Promise<Buffer | null> {
  if (content.length < MIN_BYTES) return null;
  const options = { level: LEVEL };
  const compressed =
    content.length <= MAX_SYNC_BYTES ? gzipSync(content, options) : await inThread(content, options);
  return compressed.length <= content.length * MAX_SHARE ? compressed : null;
}
