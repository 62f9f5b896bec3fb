import { findPasteBySlug, moveSlug, requestDeletion } from '@pasteflow/postgres';
import { statement } from '../harness/operation.ts';
import { SLUG } from './uploads.ts';

/** The codes of two pastes that were made from the one with the slug. */
export const NEWER = 'newer';
export const RIVAL = 'rival';

const moveTo = (to: string) =>
  statement(`move to ${to}`, { touches: ['paste', 'newer'] }, async (db, { userId, shortCode }, actor) => {
    const before = await findPasteBySlug(db, SLUG);
    const outcome = await moveSlug(db, { slug: SLUG, userId, from: shortCode, to }, actor);
    const present = await findPasteBySlug(db, SLUG);
    const hasMoved = outcome === 'moved' && before?.short_code !== to;
    if (hasMoved && present?.gone !== false) throw new Error('the slug was moved to a paste that has ended');
    return undefined;
  });

export const moveToNewer = moveTo(NEWER);
export const moveToRival = moveTo(RIVAL);

export const deleteNewer = statement('delete newer', { touches: ['newer'] }, async (db, { newerId }) => {
  await requestDeletion(db, newerId);
  return undefined;
});
