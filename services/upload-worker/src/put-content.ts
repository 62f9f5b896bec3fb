import { createHash } from 'node:crypto';
import { INLINE_CONTENT_BYTES, objectKeyOf, PasteflowError, type AttemptOutcome } from '@pasteflow/domain';
import type { ClaimedUpload } from '@pasteflow/postgres';
import { describeS3Error, type ObjectStore } from '@pasteflow/s3';
import pLimit from 'p-limit';

export interface PutContentOptions {
  readonly store: ObjectStore;
  /** The payload's bytes; null when there is none. */
  readonly readPayload: (pasteId: string) => Promise<Buffer | null>;
  readonly putTimeoutMs: number;
}

/**
 * Content that doesn't travel inline is up to 10 MiB, and takes about four times that while it comes out of Postgres (hexadecimal text,
 * then bytes): eight at once stay under 350 MB a process, whatever UPLOAD_CONCURRENCY is.
 */
const LARGE_AT_ONCE = 8;

export type PutContent = (
  upload: ClaimedUpload,
  inline: Buffer | null,
  signal: AbortSignal,
) => Promise<AttemptOutcome>;

/**
 * One attempt at one upload: its content into S3, or why not. Never throws. An attempt that was aborted, or that Postgres kept from
 * starting, is `interrupted`: neither says anything about S3, so that no attempt is spent.
 */
export function createPutContent({ store, readPayload, putTimeoutMs }: PutContentOptions): PutContent {
  const large = pLimit(LARGE_AT_ONCE);

  async function attempt(
    upload: ClaimedUpload,
    inline: Buffer | null,
    signal: AbortSignal,
  ): Promise<AttemptOutcome> {
    const digest = Buffer.from(upload.contentHash.slice('sha256:'.length), 'hex');
    try {
      signal.throwIfAborted();
      const content = inline !== null && matches(inline, digest) ? inline : await readPayload(upload.pasteId);
      if (content === null) return { kind: 'failed', error: 'its payload is missing' };
      if (!matches(content, digest))
        return { kind: 'failed', error: 'its payload does not match its content_hash' };
      const timeout = AbortSignal.timeout(putTimeoutMs);
      await store.put(objectKeyOf(upload.shortCode), content, {
        sha256: digest,
        signal: AbortSignal.any([signal, timeout]),
      });
      return { kind: 'succeeded' };
    } catch (error) {
      if (signal.aborted || isUnavailable(error)) return { kind: 'interrupted' };
      return {
        kind: 'failed',
        error: isAbort(error) ? `S3 did not answer within ${putTimeoutMs} ms` : describeS3Error(error),
      };
    }
  }

  return (upload, inline, signal) => {
    const run = () => attempt(upload, inline, signal);
    return upload.sizeBytes > INLINE_CONTENT_BYTES ? large(run) : run();
  };
}

/** A message is only a nudge: what it carries counts when it is exactly the paste's content. */
function matches(content: Buffer, digest: Buffer): boolean {
  return createHash('sha256').update(content).digest().equals(digest);
}

function isUnavailable(error: unknown): boolean {
  return error instanceof PasteflowError && error.code === 'dependency_unavailable';
}

function isAbort(error: unknown): boolean {
  return Error.isError(error) && (error.name === 'AbortError' || error.name === 'TimeoutError');
}
