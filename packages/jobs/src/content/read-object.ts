import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { DependencyUnavailableError, objectKeyOf } from '@pasteflow/domain';
import { contentHashOf } from '@pasteflow/pastes';
import type { ObjectStore } from '@pasteflow/s3';

/** Before each look: at once, and twice more. The store sees to requests that fail; this is for content that breaks off. */
const READ_DELAYS_MS = [0, 250, 1000];

/** S3 that sends nothing for so long has stopped. Nothing else would end it: a request's timeout ends with its headers. */
const STALL_TIMEOUT_MS = 10_000;

export interface PasteObject {
  readonly shortCode: string;
  readonly contentHash: string;
  readonly sizeBytes: number;
}

/**
 * The object of a PROCESSED paste, whole, once it is seen to be the paste's content.
 * @returns a sentence where it isn't there, or isn't that content
 * @throws DependencyUnavailableError when S3 doesn't give it, or the signal's reason
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
  if (object.contentLength !== paste.sizeBytes) {
    object.body.destroy();
    return `its object has ${object.contentLength} bytes instead of ${paste.sizeBytes}`;
  }
  const content = await collect(object.body, paste.sizeBytes, signal);
  return contentHashOf(content) === paste.contentHash
    ? content
    : 'its object is not what was stored: it has another SHA-256';
}

async function collect(body: Readable, size: number, signal: AbortSignal): Promise<Buffer> {
  const content = Buffer.allocUnsafe(size);
  let filled = 0;
  const stop = (): void => void body.destroy(signal.reason as Error);
  signal.addEventListener('abort', stop, { once: true });
  const stalled = setTimeout(() => body.destroy(new Error('S3 stopped sending')), STALL_TIMEOUT_MS);
  try {
    for await (const piece of body as AsyncIterable<Buffer>) {
      stalled.refresh();
      filled += piece.copy(content, filled);
    }
    if (filled !== size) throw new Error('S3 sent less than it said');
    return content;
  } catch (error) {
    throw new DependencyUnavailableError('s3', { cause: error });
  } finally {
    clearTimeout(stalled);
    signal.removeEventListener('abort', stop);
  }
}
