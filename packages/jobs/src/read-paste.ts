import { findPaste } from '@pasteflow/postgres';
import { canRead, isHeldFrom } from '@pasteflow/service-kit';
import { WorkFailedError, type JobServices } from './job-type.ts';
import { readContent } from './read-content.ts';

/** A private paste of another user is not found, as everywhere. */
export type ReadPaste =
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
