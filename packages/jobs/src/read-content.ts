import { DependencyUnavailableError, type PasteUploadState } from '@pasteflow/domain';
import { findPaste, readPayload } from '@pasteflow/postgres';
import { describeS3Error } from '@pasteflow/s3';
import { canRead, isHeldFrom } from '@pasteflow/service-kit';
import { type JobServices, WorkFailedError } from './job-type.ts';
import { type PasteObject, readObject } from './read-object.ts';

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
