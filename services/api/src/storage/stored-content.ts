import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { DependencyUnavailableError, objectKeyOf, type ContentEncoding } from '@pasteflow/domain';
import type { PasteRow } from '@pasteflow/postgres';
import { contentHashOf } from '@pasteflow/service-kit';
import { contentRange, decompress, type ObjectStore, type StoredObject } from '@pasteflow/s3';
import { SpanKind } from '@opentelemetry/api';
import { withSpan } from '@pasteflow/runtime';
import { MAX_WHOLE_BYTES } from '../http/limits/download-budget.ts';
import type { ByteRange } from '../http/request/conditional.ts';
import type { ContentCache, StoredContent } from './content-cache.ts';

export interface ObjectRequest {
  readonly paste: Pick<PasteRow, 'short_code' | 'content_hash' | 'size_bytes' | 'stored_encoding'>;
  readonly range: ByteRange | undefined;
  /** The encoding in which the client takes content that is stored in it; null: none, as for each range. */
  readonly accepts: ContentEncoding | null;
}

/** What is sent: content, or a range of it. */
export interface OpenContent {
  readonly body: Readable;
  readonly encoding: ContentEncoding | null;
  /** Bytes of the body. */
  readonly length: number;
}

/**
 * Reads content, or a range of it, into memory from the cache or from S3. Whole content is
 * checked against the hash of its paste.
 * @returns null when S3 has no such object
 * @throws DependencyUnavailableError
 */
export async function readContent(
  store: Pick<ObjectStore, 'get'>,
  cache: Pick<ContentCache, 'get' | 'add'>,
  requested: ObjectRequest,
  res: ServerResponse,
): Promise<StoredContent | null> {
  const { paste } = requested;
  const cached = cache.get(paste);
  if (cached !== undefined)
    return isAccepted(cached, requested) ? cached : partOf(await contentOf(cached, paste), requested);
  const object = await openStoredObject(store, requested, res);
  if (object === null) return null;
  const { body, encoding, contentLength, isPart } = object;
  const length = contentLength ?? (isPart ? requestedBytes(requested) : paste.size_bytes);
  const mayBeShorter = contentLength === null && encoding !== null;
  const stored = { bytes: await readWhole(body, length, res, { mayBeShorter }), encoding };
  if (isPart) return stored;
  const content = await contentOf(stored, paste);
  assertIntact(paste, content);
  cache.add(paste, stored);
  return isAccepted(stored, requested) ? stored : partOf(content, requested);
}

function isAccepted({ encoding }: Pick<StoredContent, 'encoding'>, { accepts }: ObjectRequest): boolean {
  return encoding !== null && encoding === accepts;
}

function partOf(content: Buffer, { range }: ObjectRequest): StoredContent {
  return {
    bytes: range === undefined ? content : content.subarray(range.start, range.end + 1),
    encoding: null,
  };
}

/** @throws DependencyUnavailableError for a damaged object */
async function contentOf(
  { bytes, encoding }: StoredContent,
  { size_bytes: size }: ObjectRequest['paste'],
): Promise<Buffer> {
  try {
    return await decompress(bytes, encoding, size);
  } catch (cause) {
    throw new DependencyUnavailableError('s3', { cause });
  }
}

function assertIntact({ content_hash: expected }: ObjectRequest['paste'], content: Buffer): void {
  const found = contentHashOf(content);
  if (found === expected) return;
  throw new DependencyUnavailableError('s3', {
    cause: new Error(`The object has ${found}, and its paste ${expected}. Restore the object from a backup.`),
  });
}

/**
 * Opens content, or a range of it, as a stream. A client that accepts the encoding of the object gets the
 * bytes of the object.
 * @returns null when S3 has no such object
 * @throws DependencyUnavailableError
 */
export async function openContent(
  store: Pick<ObjectStore, 'get'>,
  requested: ObjectRequest,
  res: ServerResponse,
): Promise<OpenContent | null> {
  const object = await openStoredObject(store, requested, res);
  if (object === null) return null;
  const { body, encoding, contentLength, isPart } = object;
  const { paste, range } = requested;
  const length = requestedBytes(requested);
  if (contentLength !== null) {
    if (isAccepted(object, requested)) return { body, encoding, length: contentLength };
    if (encoding === null && (isPart || range === undefined)) return { body, encoding, length };
  }
  const size = isPart ? length : paste.size_bytes;
  const { start, end } = isPart || range === undefined ? { start: 0, end: size - 1 } : range;
  return { body: contentRange(object, { start, end, size }), encoding: null, length };
}

/** S3 sends 256 KiB within milliseconds. */
const PART_TIMEOUT_MS = 5000;

/**
 * Reads an open object of this length into memory. It is destroyed when the client disconnects.
 * @throws DependencyUnavailableError when S3 fails, is silent or slow, or sends another number of bytes
 */
export async function readWhole(
  body: Readable,
  length: number,
  res: ServerResponse,
  { mayBeShorter = false } = {},
): Promise<Buffer> {
  const content = Buffer.allocUnsafeSlow(length); // a part of the shared pool would keep 8 KiB of it in the cache
  let filled = 0;
  const stop = (): void => void body.destroy(new Error('The client has disconnected.'));
  const timer = setTimeout(
    () => body.destroy(new Error(`S3 did not send 256 KiB within ${PART_TIMEOUT_MS / 1000} s.`)),
    PART_TIMEOUT_MS,
  );
  let nextPart = MAX_WHOLE_BYTES;
  res.once('close', stop);
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      if (chunk.length > length - filled) throw new Error(`The object has more than ${length} bytes.`);
      filled += chunk.copy(content, filled);
      if (filled < nextPart) continue;
      nextPart = filled + MAX_WHOLE_BYTES;
      timer.refresh();
    }
  } catch (error) {
    throw new DependencyUnavailableError('s3', { cause: error });
  } finally {
    clearTimeout(timer);
    res.off('close', stop);
  }
  if (filled === length) return content;
  if (!mayBeShorter) throw new DependencyUnavailableError('s3');
  const exact = Buffer.allocUnsafeSlow(filled); // the cache counts these bytes, and no others
  content.copy(exact);
  return exact;
}

/** The bytes of the content that a request asks for. */
export function requestedBytes({ paste, range }: Pick<ObjectRequest, 'paste' | 'range'>): number {
  return range === undefined ? paste.size_bytes : range.end - range.start + 1;
}

/**
 * Opens the object of a paste: the requested range of an object that isn't compressed, and otherwise the
 * whole object. The object counts, and not the row: a worker that was taken for dead may have replaced it.
 * @returns null when S3 has no object with this key and a possible length
 * @throws DependencyUnavailableError
 */
async function openStoredObject(
  store: Pick<ObjectStore, 'get'>,
  requested: ObjectRequest,
  res: ServerResponse,
): Promise<StoredObject | null> {
  const { paste, range } = requested;
  const clientGone = new AbortController();
  const abort = (): void => clientGone.abort();
  const open = (part: ByteRange | undefined): Promise<StoredObject | null> =>
    store.get(objectKeyOf(paste.short_code), { range: part, signal: clientGone.signal });
  res.once('close', abort);
  try {
    let object = await open(paste.stored_encoding === null ? range : undefined);
    if (object !== null && object.encoding !== null && object.isPart) {
      object.body.destroy();
      object = await open(undefined);
    }
    if (object === null || isPossible(object, requested)) return object;
    object.body.destroy();
    return null;
  } finally {
    res.off('close', abort);
  }
}

/**
 * A compressed object is smaller than its content: contents that don't become smaller are stored as they
 * are. An object without a length is measured when it is read.
 */
function isPossible({ encoding, contentLength, isPart }: StoredObject, requested: ObjectRequest): boolean {
  if (contentLength === null) return true;
  const { paste } = requested;
  if (encoding !== null) return contentLength > 0 && contentLength < paste.size_bytes;
  return contentLength === (isPart ? requestedBytes(requested) : paste.size_bytes);
}

type Reads = Pick<ObjectStore, 'get' | 'presign'>;

/** Each GetObject becomes a span that ends when the headers of S3's response arrive. */
export function tracedReads(store: Reads): Reads {
  return {
    get: (key, options) =>
      withSpan('get object', { kind: SpanKind.CLIENT, attributes: { 'aws.s3.key': key } }, () =>
        store.get(key, options),
      ),
    presign: (...presigned) => store.presign(...presigned),
  };
}
