import { promisify } from 'node:util';
import { gzip, gzipSync, type ZlibOptions } from 'node:zlib';
import { looksRandom } from './looks-random.ts';

/** For smaller contents the bytes that are saved are fewer than those of the object's metadata. */
const MIN_BYTES = 512;

/** An object that isn't at least a tenth smaller than its content isn't worth the time of each read. */
const MAX_SHARE = 0.9;

/** Of the levels of gzip, 4 takes three fifths of the time of the default, 6, for objects that are 3 % larger (ADR 50). */
const LEVEL = 4;

/** Contents of up to this size are compressed at once, within 0.7 ms, which costs less than handing them to a thread. */
const MAX_SYNC_BYTES = 64 * 1024;

/** zlib cannot use the last bytes of its window (MIN_LOOKAHEAD). */
const WINDOW_RESERVE = 262;

/** The header, the checksum and the length of gzip, and five bytes for each stored block. */
const HEADER_BYTES = 64;

/** The greatest window of gzip, as a power of two, and the greatest level of its memory. Both are the defaults. */
const [MAX_WINDOW_BITS, MAX_MEMORY_LEVEL] = [15, 8];

const inThread = promisify(gzip);

/** Compresses a content with gzip. @returns null when that doesn't pay */
export async function compress(content: Buffer): Promise<Buffer | null> {
  if (content.length < MIN_BYTES || looksRandom(content)) return null;
  const options = optionsFor(content.length);
  const compressed =
    content.length <= MAX_SYNC_BYTES ? gzipSync(content, options) : await inThread(content, options);
  return compressed.length <= content.length * MAX_SHARE ? compressed : null;
}

/**
 * A window and a memory as large as the content needs. They change no byte of the result. By default gzip takes 256 KiB
 * and a buffer of 16 KiB, even for a content of 2 KB. V8 counts this memory, and collects the whole heap because of it.
 */
function optionsFor(bytes: number): ZlibOptions {
  const windowBits = Math.min(Math.ceil(Math.log2(bytes + WINDOW_RESERVE)), MAX_WINDOW_BITS);
  return {
    level: LEVEL,
    windowBits,
    memLevel: Math.min(windowBits - 6, MAX_MEMORY_LEVEL),
    chunkSize: Math.min(bytes + HEADER_BYTES, MAX_SYNC_BYTES),
  };
}
