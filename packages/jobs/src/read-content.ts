import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { DependencyUnavailableError, type PasteUploadState, objectKeyOf } from '@pasteflow/domain';
import { findPaste, readPayload } from '@pasteflow/postgres';
import { describeS3Error, DamagedObjectError, decompress, type ObjectStore } from '@pasteflow/s3';
import { canRead, isHeldFrom, contentHashOf } from '@pasteflow/service-kit';
import { type JobServices, WorkFailedError } from './job-type.ts';

/** The columns of a paste that tell where its content is. */
interface PasteLocation extends PasteObject {
  readonly id: string;
  readonly status: PasteUploadState;
}

export type Content =
  | { readonly kind: 'content'; readonly content: Buffer }
  /** The content should exist, but does not. */
  | { readonly kind: 'missing'; readonly reason: string }
  /** The paste has expired or was deleted. */
  | { readonly kind: 'gone' };

/**
 * Reads the content of a paste: from its payload while the upload runs, then from S3. When the content is not
 * where `paste` says, the row is read again, because its upload may have ended in the meantime.
 * @throws DependencyUnavailableError, or the signal's reason
 */
export async function readContent(
  services: Pick<JobServices, 'db' | 'store'>,
  paste: PasteLocation,
  signal: AbortSignal,
): Promise<Content> {
  return (await readAtLocation(services, paste, signal)) ?? (await readAfterMove(services, paste, signal));
}

/** @returns null when the content is not where `paste` says */
async function readAtLocation(
  { db, store }: Pick<JobServices, 'db' | 'store'>,
  paste: PasteLocation,
  signal: AbortSignal,
): Promise<Content | null> {
  switch (paste.status) {
    case 'IN_PROGRESS': {
      const content = await readPayload(db, paste.id);
      return content && { kind: 'content', content };
    }
    case 'PROCESSED': {
      const content = await readObject(store, paste, signal);
      return typeof content === 'string' ? null : { kind: 'content', content };
    }
    case 'FAILED':
      return { kind: 'missing', reason: 'its upload failed, so it has no content' };
    default:
      return paste.status satisfies never;
  }
}

async function readAfterMove(
  services: Pick<JobServices, 'db' | 'store'>,
  { shortCode, contentHash, sizeBytes }: PasteLocation,
  signal: AbortSignal,
): Promise<Content> {
  const now = await findPaste(services.db, shortCode);
  if (now === null || now.gone) return { kind: 'gone' };
  if (now.status !== 'PROCESSED')
    return (
      (await readAtLocation(
        services,
        { id: now.id, shortCode, contentHash, sizeBytes, status: now.status },
        signal,
      )) ?? {
        kind: 'missing',
        reason: 'its payload is missing',
      }
    );
  const content = await readObject(services.store, { shortCode, contentHash, sizeBytes }, signal);
  return typeof content === 'string' ? { kind: 'missing', reason: content } : { kind: 'content', content };
}

/**
 * Reads a paste's content, or the reason why it is missing. An object that S3 does not return counts as
 * missing while S3 answers other requests, so that one damaged object does not fail the export of all others.
 * @throws DependencyUnavailableError when S3 or Postgres is down, or the signal's reason
 */
export async function readContentOrReason(
  services: Pick<JobServices, 'db' | 'store'>,
  paste: PasteLocation,
  signal: AbortSignal,
): Promise<Content> {
  try {
    return await readContent(services, paste, signal);
  } catch (error) {
    assertOfS3(error, signal);
  }
  await services.store.ping(signal);
  try {
    return await readContent(services, paste, signal); // S3 may have recovered between the two requests
  } catch (error) {
    assertOfS3(error, signal);
    return { kind: 'missing', reason: `S3 does not return its object: ${describeS3Error(error.cause)}` };
  }
}

function assertOfS3(error: unknown, signal: AbortSignal): asserts error is DependencyUnavailableError {
  signal.throwIfAborted();
  if (!(error instanceof DependencyUnavailableError) || error.dependency !== 's3') throw error;
}

/** A private paste of another user is not found, as everywhere. */
type ReadPaste =
  | { readonly kind: 'content'; readonly content: Buffer }
  | { readonly kind: 'not_found' | 'gone' | 'held' | 'burns' };

/**
 * Reads the content of a paste for a user, if the user may read it, and if reading does not delete it.
 * @throws WorkFailedError when the content is missing: an operator may restore it before the next attempt
 * @throws DependencyUnavailableError, or the signal's reason
 */
export async function readPaste(
  services: Pick<JobServices, 'db' | 'store'>,
  { shortCode, userId, signal }: { shortCode: string; userId: string; signal: AbortSignal },
): Promise<ReadPaste> {
  const paste = await findPaste(services.db, shortCode);
  if (paste === null || paste.status === 'FAILED' || !canRead(paste, userId)) return { kind: 'not_found' };
  if (paste.gone) return { kind: 'gone' };
  if (isHeldFrom(paste, userId)) return { kind: 'held' };
  if (paste.burn) return { kind: 'burns' };
  const { id, status, content_hash: contentHash, size_bytes: sizeBytes } = paste;
  const found = await readContent(services, { id, shortCode, status, contentHash, sizeBytes }, signal);
  switch (found.kind) {
    case 'content':
    case 'gone':
      return found;
    case 'missing':
      throw new WorkFailedError(`The paste ${shortCode} cannot be read: ${found.reason}.`);
    default:
      return found satisfies never;
  }
}

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

interface PasteObject {
  readonly shortCode: string;
  readonly contentHash: string;
  readonly sizeBytes: number;
}

/**
 * Reads the object of a PROCESSED paste and checks its size and SHA-256.
 * @returns the content, or the reason why the object is missing or damaged
 * @throws DependencyUnavailableError when S3 does not return the object, or the signal's reason
 */
async function readObject(
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
