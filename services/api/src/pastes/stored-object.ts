import type { ServerResponse } from 'node:http';
import { objectKeyOf, type ContentEncoding } from '@pasteflow/domain';
import type { PasteRow } from '@pasteflow/postgres';
import type { ObjectStore, StoredObject } from '@pasteflow/s3';
import type { ByteRange } from '../http/request/conditional.ts';

export interface ObjectRequest {
  readonly paste: Pick<PasteRow, 'short_code' | 'content_hash' | 'size_bytes' | 'stored_encoding'>;
  readonly range: ByteRange | undefined;
  /** The encoding in which the client takes content that is stored in it; null: none, as for each range. */
  readonly accepts: ContentEncoding | null;
}

/** The bytes of the content that a request asks for. */
export function requestedBytes({ paste, range }: Pick<ObjectRequest, 'paste' | 'range'>): number {
  return range === undefined ? paste.size_bytes : range.end - range.start + 1;
}

/**
 * Opens the object of a paste: the requested range of an object that isn't compressed, and otherwise the
 * whole object. The request to S3 is aborted when the client disconnects.
 *
 * The row says whether the object is compressed, but the object counts: a worker that was taken for dead may
 * have replaced it since, with another setting.
 * @returns null when S3 has no object with this key and a possible length
 * @throws DependencyUnavailableError
 */
export async function openStoredObject(
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
