import type { ExportablePaste } from '@pasteflow/postgres';

/** With short code and extension, at up to 4 bytes a character, a name stays below the file systems' limit of 255 bytes. */
const MAX_TITLE_CHARACTERS = 50;

/**
 * The name of a paste's file, valid on every file system: the short code, which makes it unique, and the title with unsafe characters
 * replaced. The extension of the title is kept. Default: .txt.
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
    .replaceAll(/(?<![._-])[._-]+$/g, '');
  return short === '' ? `${shortCode}${extension}` : `${shortCode}-${short}${extension}`;
}
