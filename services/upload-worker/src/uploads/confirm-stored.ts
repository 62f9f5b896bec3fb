import { objectKeyOf } from '@pasteflow/domain';
import type { ClaimedUpload, UploadOutcome } from '@pasteflow/postgres';
import type { ObjectStore } from '@pasteflow/s3';

/**
 * The outcome of an upload that would be given up, after a look at the bucket: a put may have stored the object although its answer was
 * lost. An object of the right size and SHA-256 is a success. When S3 does not tell, the failure stands, because S3 has failed for all
 * attempts; but a failure that is not S3's own (`isFinal`) is postponed. Never throws.
 */
export async function confirmStored(
  store: Pick<ObjectStore, 'holds' | 'urlOf'>,
  upload: ClaimedUpload,
  outcome: Extract<UploadOutcome, { kind: 'failed' }>,
  signal: AbortSignal,
): Promise<UploadOutcome> {
  const key = objectKeyOf(upload.shortCode);
  const sha256 = Buffer.from(upload.contentHash.slice('sha256:'.length), 'hex');
  try {
    const isStored = await store.holds(key, { sizeBytes: upload.sizeBytes, sha256, signal });
    return isStored ? { kind: 'succeeded', s3Url: store.urlOf(key) } : outcome;
  } catch {
    if (signal.aborted) return { kind: 'interrupted' };
    if (outcome.isFinal !== true) return outcome;
    return { kind: 'postponed', error: outcome.error, cause: outcome.cause };
  }
}
