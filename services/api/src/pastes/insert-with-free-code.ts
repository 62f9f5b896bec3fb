import { MAX_SHORT_CODE_TRIES, type ShortCodes } from '@pasteflow/service-kit';
import type { CreatedPaste, NewPaste } from '@pasteflow/postgres';
import { RequestError } from '../http/errors/request-error.ts';
import type { Answer } from '../http/response/answer.ts';
import type { InsertedPaste, PasteInsert, PasteInserts } from './paste-inserts.ts';

export interface InsertDependencies {
  readonly newShortCode: ShortCodes;
  readonly inserts: Pick<PasteInserts, 'insert'>;
}

export interface InsertWithoutCode extends Pick<PasteInsert, 'key'> {
  readonly paste: Omit<NewPaste, 'shortCode'>;
  readonly answerTo: (created: CreatedPaste & { readonly shortCode: string }) => Answer;
}

/** Inserts a paste under a new short code. @throws RequestError short_code_taken, and the errors of `PasteInserts.insert` */
export async function insertWithFreeCode(
  { newShortCode, inserts }: InsertDependencies,
  { paste, key, answerTo }: InsertWithoutCode,
): Promise<InsertedPaste & { readonly shortCode: string }> {
  return await withFreeCode(newShortCode, (shortCode) =>
    inserts.insert({
      paste: { ...paste, shortCode },
      key,
      answerTo: (created) => answerTo({ ...created, shortCode }),
    }),
  );
}

/**
 * Calls `insert` with new short codes until one is free.
 * @param insert returns null when the short code is taken
 * @throws RequestError short_code_taken
 */
export async function withFreeCode<Inserted extends object>(
  newShortCode: ShortCodes,
  insert: (shortCode: string) => Promise<Inserted | null>,
): Promise<Inserted & { readonly shortCode: string }> {
  for (let tries = 0; tries < MAX_SHORT_CODE_TRIES; tries += 1) {
    const shortCode = newShortCode();
    const inserted = await insert(shortCode);
    if (inserted !== null) return { ...inserted, shortCode };
  }
  throw new RequestError('short_code_taken', 'No free short code was found. Try again shortly.');
}
