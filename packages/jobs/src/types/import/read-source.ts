import { canRead } from '@pasteflow/pastes';
import { findPaste } from '@pasteflow/postgres';
import { readContent } from '../../content/read-content.ts';
import type { JobServices } from '../../definition/job-type.ts';
import { ImportRefusedError } from './import-errors.ts';

/**
 * The content of the paste that is to be imported, for a user who may read it: for anybody else it is as if there were none.
 * @throws ImportRefusedError, DependencyUnavailableError, or the signal's reason
 */
export async function readSource(
  services: Pick<JobServices, 'db' | 'store'>,
  { shortCode, userId, signal }: { shortCode: string; userId: string; signal: AbortSignal },
): Promise<Buffer> {
  const paste = await findPaste(services.db, shortCode);
  if (paste === null || paste.status === 'FAILED' || !canRead(paste, userId))
    throw new ImportRefusedError(`There is no paste ${shortCode}.`);
  if (paste.expired || paste.deletion_status !== 'NOT_EXPIRED') throw gone(shortCode);
  const { id, status, content_hash: contentHash, size_bytes: sizeBytes } = paste;
  const place = { id, shortCode, status, contentHash, sizeBytes };
  const found = await readContent(services, place, signal);
  switch (found.kind) {
    case 'content':
      return found.content;
    case 'gone':
      throw gone(shortCode);
    case 'missing':
      // An operator may mend it between two attempts.
      throw new Error(`The paste ${shortCode} can't be read: ${found.reason}.`);
    default:
      return found satisfies never;
  }
}

function gone(shortCode: string): ImportRefusedError {
  return new ImportRefusedError(`The paste ${shortCode} has expired or was deleted.`);
}
