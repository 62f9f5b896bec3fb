import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { DependencyUnavailableError, objectKeyOf } from '@pasteflow/domain';
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

/** S3 sends 256 KiB within milliseconds. */
const WHOLE_TIMEOUT_MS = 5000;

/**
 * Reads an open object of this length into memory. It is destroyed when the client disconnects.
 * @throws DependencyUnavailableError when S3 fails, or is silent or slow
 */
export async function readWhole(body: Readable, length: number, res: ServerResponse): Promise<Buffer> {
  const content = Buffer.allocUnsafe(length);
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
