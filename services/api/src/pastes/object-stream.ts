import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { objectKeyOf } from '@pasteflow/domain';
import type { Logger } from '@pasteflow/runtime';
import type { ObjectStore } from '@pasteflow/s3';
import type { ByteRange } from '../http/request/conditional.ts';

export interface ObjectRequest {
  readonly shortCode: string;
  readonly range: ByteRange | undefined;
  /** The Content-Length of the answer. */
  readonly length: number;
}

/**
 * Opens an object, or a range of it; null when S3 has no object with this key and length. The request to S3
 * is aborted when the client disconnects.
 * @throws DependencyUnavailableError
 */
export async function openObject(
  store: Pick<ObjectStore, 'get'>,
  { shortCode, range, length }: ObjectRequest,
  res: ServerResponse,
): Promise<Readable | null> {
  const clientGone = new AbortController();
  const abort = (): void => clientGone.abort();
  res.once('close', abort);
  const object = await store
    .get(objectKeyOf(shortCode), { range, signal: clientGone.signal })
    .finally(() => res.off('close', abort));
  if (object?.contentLength === length) return object.body;
  object?.body.destroy();
  return null;
}

/**
 * Streams an object into an answer whose headers were sent. When S3 fails, the connection is cut, so that the
 * client sees an incomplete transfer. When the client disconnects, the object is destroyed.
 */
export async function sendObject(body: Readable, res: ServerResponse, logger: Logger): Promise<void> {
  let storeError: Error | undefined;
  body.once('error', (error) => {
    // After the client has disconnected, the error is only that, passed on by pipeline.
    if (!res.destroyed) storeError = error;
  });
  try {
    await pipeline(body, res);
  } catch {
    if (storeError !== undefined) logger.error('content cut off by S3', { error: storeError });
  }
}
