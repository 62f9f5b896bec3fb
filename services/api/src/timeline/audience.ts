/**
 * Who reads a paste, a job or their timeline. The owner is the user whose token created the paste or the job. Everybody else who may read
 * an unlisted paste is a stranger, also with the delete token of an anonymous paste: that token deletes, and does nothing else (ADR 31).
 */
export type Audience = 'owner' | 'stranger';

/** @param ownerId null: an anonymous paste, which has no owner @param userId null: an anonymous caller */
export function audienceOf(ownerId: string | null, userId: string | null): Audience {
  return ownerId !== null && ownerId === userId ? 'owner' : 'stranger';
}
