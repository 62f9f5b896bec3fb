import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { DependencyUnavailableError, objectKeyOf } from '@pasteflow/domain';
import type { ObjectStore } from '@pasteflow/s3';
import type { ByteRange } from '../http/request/conditional.ts';
import type { CachedPaste, ContentCache } from './content-cache.ts';

export interface ObjectRequest {
  readonly paste: CachedPaste;
  readonly range: ByteRange | undefined;
  /** The Content-Length of the answer. */
  readonly length: number;
}

export interface ContentDependencies {
  readonly store: Pick<ObjectStore, 'get'>;
  readonly cache: Pick<ContentCache, 'get' | 'add'>;
}

/**
 * Reads a content of up to 256 KiB, or a range of a content, from the cache or from S3. A whole content is checked against the
 * hash of its paste.
 * @returns null when S3 has no object with this key and length
 * @throws DependencyUnavailableError
 */
export async function readContent(
  { store, cache }: ContentDependencies,
  requested: ObjectRequest,
  res: ServerResponse,
): Promise<Buffer | null> {
  const { paste, range, length } = requested;
  const cached = cache.get(paste);
  if (cached !== undefined) return range === undefined ? cached : cached.subarray(range.start, range.end + 1);
  const body = await openObject(store, requested, res);
  if (body === null) return null;
  const content = await readWhole(body, length, res);
  if (range === undefined) {
    assertIntact(paste, content);
    cache.add(paste, content);
  }
  return content;
}

function assertIntact({ content_hash: expected }: CachedPaste, content: Buffer): void {
  const found = `sha256:${createHash('sha256').update(content).digest('hex')}`;
  if (found === expected) return;
  throw new DependencyUnavailableError('s3', {
    cause: new Error(`The object has ${found}, and its paste ${expected}. Restore the object from a backup.`),
  });
}

/**
 * Opens an object, or a range of it; null when S3 has no object with this key and length. The request to S3
 * is aborted when the client disconnects.
 * @throws DependencyUnavailableError
 */
export async function openObject(
  store: Pick<ObjectStore, 'get'>,
  { paste, range, length }: ObjectRequest,
  res: ServerResponse,
): Promise<Readable | null> {
  const clientGone = new AbortController();
  const abort = (): void => clientGone.abort();
  res.once('close', abort);
  const object = await store
    .get(objectKeyOf(paste.short_code), { range, signal: clientGone.signal })
    .finally(() => res.off('close', abort));
  if (object?.contentLength === length) return object.body;
  object?.body.destroy();
  return null;
}

/** S3 sends 256 KiB within milliseconds. */
const WHOLE_TIMEOUT_MS = 5000;

/**
 * Reads an open object of this length into memory. It is destroyed when the client disconnects.
 * @throws DependencyUnavailableError when S3 fails, or is silent or slow
 */
export async function readWhole(body: Readable, length: number, res: ServerResponse): Promise<Buffer> {
  const content = Buffer.allocUnsafeSlow(length); // a part of the shared pool would keep 8 KiB of it in the cache
  let filled = 0;
  const stop = (): void => void body.destroy(new Error('The client has disconnected.'));
  const timer = setTimeout(
    () => body.destroy(new Error(`S3 did not send ${length} bytes within ${WHOLE_TIMEOUT_MS / 1000} s.`)),
    WHOLE_TIMEOUT_MS,
  );
  res.once('close', stop);
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) filled += chunk.copy(content, filled);
  } catch (error) {
    throw new DependencyUnavailableError('s3', { cause: error });
  } finally {
    clearTimeout(timer);
    res.off('close', stop);
  }
  if (filled < length) throw new DependencyUnavailableError('s3');
  return content;
}
