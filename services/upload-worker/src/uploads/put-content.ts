import { hash } from 'node:crypto';
import {
  ALL_REFUSED,
  INLINE_CONTENT_BYTES,
  objectKeyOf,
  storedReason,
  type ContentEncoding,
} from '@pasteflow/domain';
import { contentHashOf } from '@pasteflow/service-kit';
import type { ClaimedUpload, UploadOutcome } from '@pasteflow/postgres';
import { compress, reasonOfS3Error, type ObjectStore } from '@pasteflow/s3';
import { Semaphore } from 'async-mutex';
import type { StorageAccess } from './storage-access.ts';

/**
 * Maximum of large (not inline) content that one process handles at a time, in units of 64 KiB: 80 MiB, for
 * any UPLOAD_CONCURRENCY and MAX_PASTE_BYTES. Reading a byte from Postgres needs about four (hexadecimal
 * text, then bytes): 320 MiB in all. Compressing it, when the text is gone, needs at most another one. A
 * larger paste is uploaded alone. The unit is not a byte because async-mutex 0.5 releases a semaphore in
 * steps of one.
 */
const MAX_LARGE_UNITS = 1280;
const UNIT_BYTES = 64 * 1024;

/** What is put into S3 for a paste. */
interface NewObject {
  readonly bytes: Buffer;
  readonly sha256: Buffer;
  readonly encoding: ContentEncoding | null;
}

export type PutContent = (
  upload: ClaimedUpload,
  inline: Buffer | null,
  signal: AbortSignal,
) => Promise<UploadOutcome>;

/**
 * Stores the content of one upload in S3. Never throws. The outcome is `interrupted` after an abort, and
 * `postponed` when Postgres did not return the payload, or S3 refuses everything from this service. None of
 * these is a failure of S3, so none spends an attempt. A payload that is missing or damaged is a failure that is final: no further attempt could succeed.
 */
export function createPutContent({
  store,
  access,
  readPayload,
  putTimeoutMs,
  compresses,
}: {
  readonly store: Pick<ObjectStore, 'put' | 'urlOf'>;
  readonly access: Pick<StorageAccess, 'refusalBehind'>;
  /** Returns the payload, or null when there is none. */
  readonly readPayload: (pasteId: string) => Promise<Buffer | null>;
  readonly putTimeoutMs: number;
  /** Store as gzip where it pays. */
  readonly compresses: boolean;
}): PutContent {
  const large = new Semaphore(MAX_LARGE_UNITS);

  async function attempt(
    upload: ClaimedUpload,
    inline: Buffer | null,
    signal: AbortSignal,
  ): Promise<UploadOutcome> {
    if (signal.aborted) return { kind: 'interrupted' };
    try {
      // Inline content of a message is used only when it is exactly the paste's content.
      const isWhole = inline !== null && contentHashOf(inline) === upload.contentHash;
      const content = isWhole ? inline : await readPayload(upload.pasteId);
      if (content === null) return damaged('its payload is missing');
      if (!isWhole && contentHashOf(content) !== upload.contentHash)
        return damaged('its payload does not match its content_hash');
      return await put(upload, await objectOf(upload, content), signal);
    } catch (error) {
      if (signal.aborted) return { kind: 'interrupted' };
      const reason = storedReason('database_unavailable', 'its payload could not be read');
      return { kind: 'postponed', error: reason, cause: error };
    }
  }

  async function objectOf(upload: ClaimedUpload, content: Buffer): Promise<NewObject> {
    const compressed = compresses ? await compress(content) : null;
    return compressed === null
      ? { bytes: content, sha256: digestOf(upload), encoding: null }
      : { bytes: compressed, sha256: hash('sha256', compressed, 'buffer'), encoding: 'gzip' };
  }

  async function put(
    { shortCode }: ClaimedUpload,
    { bytes, sha256, encoding }: NewObject,
    signal: AbortSignal,
  ): Promise<UploadOutcome> {
    if (signal.aborted) return { kind: 'interrupted' };
    const key = objectKeyOf(shortCode);
    // One controller and one timer: AbortSignal.timeout keeps the put in memory for the whole timeout, long
    // after its end.
    const stop = new AbortController();
    const abort = (): void => stop.abort();
    let isLate = false;
    let lateReason = `S3 did not answer within ${putTimeoutMs} ms`;
    const timer = setTimeout(() => {
      isLate = true;
      abort();
    }, putTimeoutMs);
    signal.addEventListener('abort', abort, { once: true });
    try {
      const onReadBack = (): void => {
        lateReason = `S3 stored the object, but the worker could not read it back within ${putTimeoutMs} ms`;
        timer.refresh(); // the read back has the same time for itself
      };
      await store.put(key, bytes, { sha256, encoding, signal: stop.signal, onReadBack });
      return { kind: 'succeeded', s3Url: store.urlOf(key), encoding, storedBytes: bytes.length };
    } catch (error) {
      if (signal.aborted) return { kind: 'interrupted' };
      const refusal = isLate ? null : await access.refusalBehind(error);
      if (refusal !== null) {
        const refused = storedReason('storage_refused', `${ALL_REFUSED}: ${refusal}`);
        return { kind: 'postponed', error: refused, cause: error };
      }
      // The error's name does not tell: the SDK also reports a reset connection as a TimeoutError.
      const reason = isLate ? storedReason('storage_unavailable', lateReason) : reasonOfS3Error(error);
      return { kind: 'failed', error: reason, cause: error };
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    }
  }

  return (upload, inline, signal) => {
    const run = () => attempt(upload, inline, signal);
    if (upload.sizeBytes <= INLINE_CONTENT_BYTES) return run();
    return large.runExclusive(run, Math.min(Math.ceil(upload.sizeBytes / UNIT_BYTES), MAX_LARGE_UNITS));
  };
}

function damaged(text: string): UploadOutcome {
  return { kind: 'failed', error: storedReason('content_damaged', text), isFinal: true };
}

/** The SHA-256 of the content. */
function digestOf({ contentHash }: ClaimedUpload): Buffer {
  return Buffer.from(contentHash.slice('sha256:'.length), 'hex');
}

/**
 * The most that S3_PUT_TIMEOUT_MS can be. For a store that sends the object a byte at a time; one that stops
 * sending is left sooner.
 */
const CONFIRM_TIMEOUT_MS = 600_000;

/**
 * The outcome of an upload that would be given up, after a look at the bucket: a put may have stored the
 * object although its answer was lost. An object with exactly the content, compressed or not, is a success.
 * When S3 does not tell, the failure stands, because S3 has failed for all attempts; but a failure that is
 * not S3's own (`isFinal`) is postponed. Never throws.
 */
export async function confirmStored(
  store: Pick<ObjectStore, 'findContent' | 'urlOf'>,
  upload: ClaimedUpload,
  outcome: Extract<UploadOutcome, { kind: 'failed' }>,
  signal: AbortSignal,
  timeoutMs = CONFIRM_TIMEOUT_MS,
): Promise<UploadOutcome> {
  const key = objectKeyOf(upload.shortCode);
  try {
    const found = await store.findContent(key, {
      sizeBytes: upload.sizeBytes,
      sha256: digestOf(upload),
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
    if (found === null) return outcome;
    const { encoding, bytes: storedBytes } = found;
    return { kind: 'succeeded', s3Url: store.urlOf(key), encoding, storedBytes };
  } catch {
    if (signal.aborted) return { kind: 'interrupted' };
    if (outcome.isFinal !== true) return outcome;
    return { kind: 'postponed', error: outcome.error, cause: outcome.cause };
  }
}
