import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { objectKeyOf } from '@pasteflow/domain';
import type { Logger } from '@pasteflow/runtime';
import type { ObjectStore } from '@pasteflow/s3';
import type { ByteRange } from '../http/request/conditional.ts';

export interface WantedObject {
  readonly shortCode: string;
  readonly range: ByteRange | undefined;
  /** How many bytes the answer announces. */
  readonly length: number;
}

/**
 * Opens an object, or a range of it; null when S3 has none of this key and length. A client that goes away
 * ends the request to S3.
 * @throws DependencyUnavailableError
 */
export async function openObject(
  store: Pick<ObjectStore, 'get'>,
  { shortCode, range, length }: WantedObject,
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
 * Streams the object into an answer whose headers are out. When S3 breaks off, the connection is cut: a
 * client sees that its transfer is short. When the client goes away, the object is let go.
 */
export async function sendObject(body: Readable, res: ServerResponse, logger: Logger): Promise<void> {
  let storeError: Error | undefined;
  body.once('error', (error) => {
    // Once the client has left, an error is only that, passed on by pipeline.
    if (!res.destroyed) storeError = error;
  });
  try {
    await pipeline(body, res);
  } catch {
    if (storeError !== undefined) logger.error('content broke off', { error: storeError });
  }
}
