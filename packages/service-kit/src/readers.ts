import type { Visibility } from '@pasteflow/domain';

/**
 * Whether somebody may know of a paste. For everybody else a private paste is not found, and neither is one for members
 * by those who are not signed in.
 * @param userId null: an anonymous caller
 */
export function canRead(
  paste: { readonly visibility: Visibility; readonly user_id: string | null },
  userId: string | null,
): boolean {
  if (paste.visibility === 'unlisted') return true;
  return userId !== null && (paste.visibility === 'members' || paste.user_id === userId);
}

/**
 * Whether reports hold a paste from somebody, which they do from everybody but its owner.
 * @param userId null: an anonymous caller
 */
export function isHeldFrom(
  paste: { readonly held_at: Date | null; readonly user_id: string | null },
  userId: string | null,
): boolean {
  return paste.held_at !== null && (userId === null || paste.user_id !== userId);
}
