import { objectKeyOf } from '@pasteflow/domain';
import type { ClaimedUpload, UploadOutcome } from '@pasteflow/postgres';
import type { ObjectStore } from '@pasteflow/s3';

/** The most that S3_PUT_TIMEOUT_MS can be. For a store that sends the object a byte at a time; one that stops sending is left sooner. */
const TIMEOUT_MS = 600_000;

/**
 * The outcome of an upload that would be given up, after a look at the bucket: a put may have stored the object although its answer was
 * lost. An object with exactly the content, compressed or not, is a success. When S3 does not tell, the failure stands, because S3 has failed for all
 * attempts; but a failure that is not S3's own (`isFinal`) is postponed. Never throws.
 */
export async function confirmStored(
  store: Pick<ObjectStore, 'findContent' | 'urlOf'>,
  upload: ClaimedUpload,
  outcome: Extract<UploadOutcome, { kind: 'failed' }>,
  signal: AbortSignal,
  timeoutMs = TIMEOUT_MS,
): Promise<UploadOutcome> {
  const key = objectKeyOf(upload.shortCode);
  const sha256 = Buffer.from(upload.contentHash.slice('sha256:'.length), 'hex');
  try {
    const found = await store.findContent(key, {
      sizeBytes: upload.sizeBytes,
      sha256,
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
