import { createHash } from 'node:crypto';
import type { DiffedPastes } from './diffed-pastes.ts';

/** Raise it when a diff of the same contents is written differently. */
const FORMAT = 1;

/**
 * The entity tag of a diff: of both contents, and of everything else that its form shows. The contents of a paste never change.
 * @param shown what the form shows, as JSON can write it
 */
export function etagOfDiff({ paste, parent }: DiffedPastes, shown: unknown): string {
  const parts = [FORMAT, parent.short_code, parent.content_hash, paste.short_code, paste.content_hash, shown];
  return `"${createHash('sha256').update(JSON.stringify(parts)).digest('hex')}"`;
}
