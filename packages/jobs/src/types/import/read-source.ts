import { canRead } from '@pasteflow/service-kit';
import { findPaste } from '@pasteflow/postgres';
import { readContent } from '../../content/read-content.ts';
import type { JobServices } from '../../definition/job-type.ts';
import { WorkFailedError } from '../../definition/work-failed.ts';
import { ImportRefusedError } from './import-errors.ts';

/**
 * Reads the paste that is to be imported. A private paste of another user is reported as not existing.
 * @throws ImportRefusedError, DependencyUnavailableError, or the signal's reason
 */
export async function readSource(
  services: Pick<JobServices, 'db' | 'store'>,
  { shortCode, userId, signal }: { shortCode: string; userId: string; signal: AbortSignal },
): Promise<Buffer> {
  const paste = await findPaste(services.db, shortCode);
  if (paste === null || paste.status === 'FAILED' || !canRead(paste, userId))
    throw new ImportRefusedError(`There is no paste ${shortCode}.`);
  if (paste.gone) throw gone(shortCode);
  if (paste.burn)
    throw new ImportRefusedError(
      `The paste ${shortCode} is deleted when it is read, and is no source of an import. Make a paste without burn.`,
    );
  const { id, status, content_hash: contentHash, size_bytes: sizeBytes } = paste;
  const location = { id, shortCode, status, contentHash, sizeBytes };
  const found = await readContent(services, location, signal);
  switch (found.kind) {
    case 'content':
      return found.content;
    case 'gone':
      throw gone(shortCode);
    case 'missing':
      // Not an ImportRefusedError: an operator may restore the object before the next attempt.
      throw new WorkFailedError(`The paste ${shortCode} cannot be read: ${found.reason}.`);
    default:
      return found satisfies never;
  }
}

function gone(shortCode: string): ImportRefusedError {
  return new ImportRefusedError(`The paste ${shortCode} has expired or was deleted.`);
}
