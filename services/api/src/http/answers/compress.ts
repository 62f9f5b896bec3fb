import type { IncomingMessage } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import { promisify } from 'node:util';
import { constants, createGzip, gzip, gzipSync } from 'node:zlib';
import type { Response } from 'express';
import { acceptedEncoding } from '../request/accept.ts';
import { hasGoneOn } from '../request/arrival.ts';
import { isKnownToClient } from '../request/conditional.ts';

/** Of the levels, 4 takes three fifths of the time of the default for pages that are 3 % larger. */
const LEVEL = 4;

/** A stream takes 270 KiB for as long as its reader takes. Beyond, pages are sent as they are. */
const MAX_STREAMS = 64;
let streams = 0;

/**
 * As beginCompressed, for an answer that is written as it arrives. Its place is taken now, and left when all is
 * compressed or the answer has ended.
 * @returns what compresses it; null: it is sent as it is
 */
export function beginCompressedStream(res: Response, etag: string): typeof gzipped | null {
  const hasPlace = streams < MAX_STREAMS && !res.closed; // a closed one emits nothing more
  if (!beginCompressed(res, etag, hasPlace)) return null;
  streams += 1;
  let isIn = true;
  const leave = (): void => {
    if (isIn) streams -= 1;
    isIn = false;
  };
  res.once('close', leave);
  return async function* compress(chunks) {
    yield* gzipped(chunks);
    leave();
  };
}

/**
 * Whether an answer is compressed; sets its headers. The length of a compressed page could tell another site a
 * secret of the page beside what the site makes the page repeat, as a filter of a list does. But no other site can
 * cause a request that is signed in (SameSite=Strict, Sec-Fetch-Site), unless the browser goes on by itself: then the
 * page is not compressed. Answers to POST, and those with `no-transform`, as all that show a token or what it follows
 * from, are not either.
 * @param etag of the answer as it is; null: it has none
 * @param mayBe false: there is no room for another stream
 */
export function beginCompressed(res: Response, etag: string | null = null, mayBe = true): boolean {
  const { req } = res;
  res.vary('Accept-Encoding');
  const isRead = req.method === 'GET' || req.method === 'HEAD';
  const isFixed = String(res.getHeader('Cache-Control')).includes('no-transform');
  const isCompressed = isRead && !isFixed && mayBe && !hasGoneOn(req) && acceptedEncoding(req) === 'gzip';
  if (isCompressed) res.set('Content-Encoding', 'gzip');
  if (etag !== null) res.set('ETag', isCompressed ? tagOfGzip(etag) : etag);
  return isCompressed;
}

/** Sends a body that is in memory, and of which compression takes no more than some milliseconds. */
export function sendCompressed(res: Response, body: string): void {
  if (beginCompressed(res)) res.send(gzipSync(body, { level: LEVEL }));
  else res.send(body);
}

/** A longer body, in a thread of its own. */
export const compressed = (body: Buffer): Promise<Buffer> => gzipInThread(body, { level: LEVEL });
const gzipInThread = promisify(gzip);

/** What is written as it arrives. The reader gets each chunk at once. */
export async function* gzipped(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const stream = createGzip({ level: LEVEL, flush: constants.Z_SYNC_FLUSH });
  try {
    pipeline(Readable.from(chunks), stream, () => {}); // an error is that of the iteration
    yield* stream as AsyncIterable<Buffer>;
  } finally {
    stream.destroy();
  }
}

/** Equal tags mean equal bytes (RFC 9110, 8.8.3.3). */
function tagOfGzip(etag: string): string {
  return etag.replace(/"$/, '-gzip"');
}

/**
 * The tag of either form of an answer that the client already has (RFC 9110, 13.1.2); null: it has none. Caches
 * find their copy by the tag of the 304.
 */
export function knownTagOf({ headers }: Pick<IncomingMessage, 'headers'>, etag: string): string | null {
  const known = headers['if-none-match'];
  return [etag, tagOfGzip(etag)].find((each) => isKnownToClient(known, each)) ?? null;
}
