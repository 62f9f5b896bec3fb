import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { DependencyUnavailableError, objectKeyOf } from '@pasteflow/domain';
import { contentHashOf } from '@pasteflow/service-kit';
import { DamagedObjectError, decompress, type ObjectStore } from '@pasteflow/s3';

/**
 * Delays before each attempt to read. The store retries failed requests; these attempts are for content that
 * ends too early.
 */
const READ_DELAYS_MS = [0, 250, 1000];

/**
 * A body that receives nothing for this long is destroyed. No other timeout would end it: that of the request
 * ends with the headers.
 */
const STALL_TIMEOUT_MS = 10_000;

export interface PasteObject {
  readonly shortCode: string;
  readonly contentHash: string;
  readonly sizeBytes: number;
}

/**
 * Reads the object of a PROCESSED paste and checks its size and SHA-256.
 * @returns the content, or the reason why the object is missing or damaged
 * @throws DependencyUnavailableError when S3 does not return the object, or the signal's reason
 */
export async function readObject(
  store: ObjectStore,
  paste: PasteObject,
  signal: AbortSignal,
): Promise<Buffer | string> {
  let failure: unknown;
  for (const delay of READ_DELAYS_MS) {
    if (delay > 0) await sleep(delay, undefined, { signal });
    try {
      return await readOnce(store, paste, signal);
    } catch (error) {
      signal.throwIfAborted();
      failure = error;
    }
  }
  throw failure;
}

async function readOnce(
  store: ObjectStore,
  paste: PasteObject,
  signal: AbortSignal,
): Promise<Buffer | string> {
  const object = await store.get(objectKeyOf(paste.shortCode), { signal });
  if (object === null) return 'its object is not in S3';
  const { contentLength, encoding } = object;
  const length = contentLength ?? paste.sizeBytes; // an object that comes in chunks has at most so many bytes
  if (encoding === null ? length !== paste.sizeBytes : length > paste.sizeBytes) {
    object.body.destroy();
    return `its object has ${length} bytes instead of ${paste.sizeBytes}`;
  }
  try {
    const stored = await collect(object.body, { length, mayBeShorter: contentLength === null }, signal);
    const content = await decompress(stored, encoding, paste.sizeBytes);
    if (contentHashOf(content) === paste.contentHash) return content;
  } catch (error) {
    if (!(error instanceof DamagedObjectError)) throw error;
  }
  return 'its object is damaged: its content does not match content_hash';
}

async function collect(
  body: Readable,
  { length, mayBeShorter }: { length: number; mayBeShorter: boolean },
  signal: AbortSignal,
): Promise<Buffer> {
  const content = Buffer.allocUnsafe(length);
  let filled = 0;
  const stop = (): void => void body.destroy(signal.reason as Error);
  signal.addEventListener('abort', stop, { once: true });
  const stalled = setTimeout(
    () => body.destroy(new Error('S3 stopped sending the object.')),
    STALL_TIMEOUT_MS,
  );
  try {
    for await (const piece of body as AsyncIterable<Buffer>) {
      stalled.refresh();
      if (piece.length > length - filled)
        throw new DamagedObjectError(`The object has more than ${length} bytes.`);
      filled += piece.copy(content, filled);
    }
    if (filled !== length && !mayBeShorter) throw new Error('S3 sent fewer bytes than its Content-Length.');
    return content.subarray(0, filled);
  } catch (error) {
    if (error instanceof DamagedObjectError) throw error;
    throw new DependencyUnavailableError('s3', { cause: error });
  } finally {
    clearTimeout(stalled);
    signal.removeEventListener('abort', stop);
  }
}
