import { MAX_SHORT_CODE_TRIES, type ShortCodes } from '@pasteflow/pastes';
import { createPaste, type CreatedPaste, type Database, type NewPaste } from '@pasteflow/postgres';
import { RequestError } from '../http/errors/request-error.ts';

/** Inserts a paste under a new short code. @throws RequestError short_code_taken */
export async function insertWithFreeCode(
  db: Database,
  newShortCode: ShortCodes,
  paste: Omit<NewPaste, 'shortCode'>,
): Promise<CreatedPaste & { readonly shortCode: string }> {
  for (let tries = 0; tries < MAX_SHORT_CODE_TRIES; tries += 1) {
    const shortCode = newShortCode();
    const created = await createPaste(db, { ...paste, shortCode });
    if (created !== null) return { ...created, shortCode };
  }
  throw new RequestError('short_code_taken', 'No free short code was found. Try again shortly.');
}
