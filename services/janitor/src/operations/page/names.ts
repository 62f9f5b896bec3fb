const MAX_CHARACTERS = 40;

/** A name as it is recorded: no slash, no # and no direction marks, which could make it look like another. */
export function cleanName(text: string): string {
  return text.replaceAll(/[^\p{L}\p{N}@._-]/gu, '').slice(0, MAX_CHARACTERS) || 'unnamed';
}
