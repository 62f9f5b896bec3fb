import { objectKeyOf } from '@pasteflow/domain';
import { findBlocked, importPastes, type ImportEntry } from '@pasteflow/postgres';
import { MAX_SHORT_CODE_TRIES, contentHashOf } from '@pasteflow/service-kit';
import type { JobContext } from '../../definition/job-type.ts';
import type { PositionedPaste } from './input.ts';

/**
 * Creates the pastes in one statement, and those whose short code was already taken in further ones.
 * @returns the entries of which no paste was made, because an operator has blocked their content
 * @throws ExecutionTakenError
 */
export async function importBatch(
  { jobId, executionId, userId, services }: Omit<JobContext<unknown>, 'parameters'>,
  batch: readonly PositionedPaste[],
): Promise<readonly PositionedPaste[]> {
  const { db, store, newShortCode, dispatchUploads } = services;
  const toEntry = ({ position, paste }: PositionedPaste): ImportEntry => {
    const shortCode = newShortCode();
    const storagePath = objectKeyOf(shortCode);
    return {
      position,
      url: store.urlOf(storagePath),
      storagePath,
      paste: {
        ...paste,
        userId,
        shortCode,
        contentHash: contentHashOf(paste.content),
        deleteTokenHash: null,
      },
    };
  };
  let left = batch;
  let blocked: readonly PositionedPaste[] = [];
  for (let tried = 0; left.length > 0; tried += 1) {
    if (tried === MAX_SHORT_CODE_TRIES) throw new Error('No unused short codes were found.');
    const made = await importPastes(db, { executionId, jobId, entries: left.map(toEntry) });
    const contents = new Map(left.map(({ position, paste }) => [position, paste.content]));
    dispatchUploads(
      made.map(({ position, ...upload }) => ({ ...upload, content: contents.get(position) as Buffer })),
    );
    const positions = new Set(made.map(({ position }) => position));
    left = left.filter(({ position }) => !positions.has(position));
    if (left.length === 0) break;
    const hashes = await findBlocked(db, left.map(hashOf));
    blocked = [...blocked, ...left.filter((each) => hashes.has(hashOf(each)))];
    left = left.filter((each) => !hashes.has(hashOf(each)));
  }
  return blocked;
}

function hashOf({ paste }: PositionedPaste): string {
  return contentHashOf(paste.content);
}
