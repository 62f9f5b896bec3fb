import type { ExportablePaste } from '@pasteflow/postgres';

/** With code and extension this stays far below the 255 bytes that file systems take, at up to 4 bytes a character. */
const MAX_TITLE_CHARACTERS = 50;

/**
 * The name of a paste's file, alike on every system: its short code, which makes it unique, and as much of its title as is letters, digits
 * and such. A title's own extension is kept; without one it is .txt.
 */
export function archivedName({ shortCode, title }: Pick<ExportablePaste, 'shortCode' | 'title'>): string {
  const [, stem = '', extension = '.txt'] = /^(.*?)(\.[A-Za-z0-9]{1,10})?$/s.exec(title ?? '') ?? [];
  const safe = stem
    .normalize('NFC')
    .replaceAll(/[^\p{L}\p{M}\p{N}._-]+/gu, '_')
    .replaceAll(/^[._-]+/g, '');
  const short = Array.from(safe)
    .slice(0, MAX_TITLE_CHARACTERS)
    .join('')
    .replaceAll(/[._-]+$/g, '');
  return short === '' ? `${shortCode}${extension}` : `${shortCode}-${short}${extension}`;
}
