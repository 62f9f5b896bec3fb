import { createHash } from 'node:crypto';
import { DependencyUnavailableError, INLINE_CONTENT_BYTES, objectKeyOf } from '@pasteflow/domain';
import type { ClaimedUpload, UploadOutcome } from '@pasteflow/postgres';
import { describeS3Error, type ObjectStore } from '@pasteflow/s3';
import { Semaphore } from 'async-mutex';

export interface PutContentOptions {
  readonly store: Pick<ObjectStore, 'put' | 'urlOf'>;
  /** The payload's bytes; null when there is none. */
  readonly readPayload: (pasteId: string) => Promise<Buffer | null>;
  readonly putTimeoutMs: number;
}

/**
 * Content beyond what travels inline that one process works on at a time, whatever UPLOAD_CONCURRENCY and MAX_PASTE_BYTES are, in units of
 * 64 KiB: 80 MiB. A byte takes about four while it comes out of Postgres (hexadecimal text, then bytes): 320 MiB in all. A larger
 * paste goes alone. Not in bytes, since async-mutex 0.5 counts a semaphore's value down one by one when it is released.
 */
const LARGE_UNITS_AT_ONCE = 1280;
const UNIT_BYTES = 64 * 1024;

export type PutContent = (
  upload: ClaimedUpload,
  inline: Buffer | null,
  signal: AbortSignal,
) => Promise<UploadOutcome>;

/**
 * One attempt at one upload: its content into S3, or why not. Never throws. An attempt that was aborted is `interrupted`, and one that
 * Postgres kept from starting `postponed`: neither says anything about S3, so that no attempt is spent.
 */
export function createPutContent({ store, readPayload, putTimeoutMs }: PutContentOptions): PutContent {
  const large = new Semaphore(LARGE_UNITS_AT_ONCE);

  async function attempt(
    upload: ClaimedUpload,
    inline: Buffer | null,
    signal: AbortSignal,
  ): Promise<UploadOutcome> {
    if (signal.aborted) return { kind: 'interrupted' };
    try {
      const digest = Buffer.from(upload.contentHash.slice('sha256:'.length), 'hex');
      const content = inline !== null && matches(inline, digest) ? inline : await readPayload(upload.pasteId);
      if (content === null) return { kind: 'failed', error: 'its payload is missing' };
      if (!matches(content, digest)) {
        return { kind: 'failed', error: 'its payload does not match its content_hash' };
      }
      return await put(upload, { content, digest }, signal);
    } catch (error) {
      if (signal.aborted) return { kind: 'interrupted' };
      return {
        kind: error instanceof DependencyUnavailableError ? 'postponed' : 'failed',
        error: `reading its payload: ${String(error)}`,
      };
    }
  }

  async function put(
    { shortCode }: ClaimedUpload,
    { content, digest }: { content: Buffer; digest: Buffer },
    signal: AbortSignal,
  ): Promise<UploadOutcome> {
    const key = objectKeyOf(shortCode);
    const timeout = AbortSignal.timeout(putTimeoutMs);
    try {
      await store.put(key, content, { sha256: digest, signal: AbortSignal.any([signal, timeout]) });
      return { kind: 'succeeded', s3Url: store.urlOf(key) };
    } catch (error) {
      if (signal.aborted) return { kind: 'interrupted' };
      // Not by the error's name: the SDK calls a reset connection a TimeoutError too.
      const late = timeout.aborted;
      return {
        kind: 'failed',
        error: late ? `S3 did not answer within ${putTimeoutMs} ms` : describeS3Error(error),
      };
    }
  }

  return (upload, inline, signal) => {
    const run = () => attempt(upload, inline, signal);
    if (upload.sizeBytes <= INLINE_CONTENT_BYTES) return run();
    return large.runExclusive(run, Math.min(Math.ceil(upload.sizeBytes / UNIT_BYTES), LARGE_UNITS_AT_ONCE));
  };
}

/** A message is only a nudge: what it carries counts when it is exactly the paste's content. */
function matches(content: Buffer, digest: Buffer): boolean {
  return createHash('sha256').update(content).digest().equals(digest);
}
