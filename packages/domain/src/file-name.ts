/**
 * With a short code before it and an extension behind it, a name stays below the file systems' limit of 255
 * bytes.
 */
const MAX_STEM_BYTES = 180;

/** Windows opens a device under these names, with any extension. */
const DEVICE = /^(con|prn|aux|nul|(com|lpt)[1-9¹²³])(\.|$)/i;

/** A title such as `Makefile` or `.gitignore` is the name of a file, and needs no extension. */
const NAME_OF_A_FILE = /^[\x21-\x7e]+$/;

/**
 * The name of a paste's file, valid on every file system: the title with unsafe characters replaced. Letters
 * keep their marks, which Hindi and Tamil write as characters of their own; ZWNJ and ZWJ join letters in
 * Persian and Hindi. A long title is cut before its extension.
 * @param title null: none @param otherwise the name without an extension of a paste whose title has no usable
 * character, or names a device of Windows
 * @returns a name, of which one dot at the start stays; a title without an extension gets .txt unless it is one
 * word in ASCII
 */
export function fileNameOf(title: string | null, otherwise: string): string {
  const whole = title ?? '';
  const dot = /^\.[\p{L}\p{N}]/u.test(whole) ? '.' : '';
  const [, stem = '', extension = NAME_OF_A_FILE.test(whole) ? '' : '.txt'] =
    /^(.*?)(\.[A-Za-z0-9]{1,10})?$/s.exec(whole.slice(dot.length)) ?? [];
  const safe = stem
    .normalize('NFC')
    .replaceAll(/[^\p{L}\p{M}\p{N}\p{Join_C}._-]+/gu, '_')
    .replaceAll(/^[\p{M}\p{Join_C}._-]+/gu, '');
  const short = cut(safe).replaceAll(/(?<![\p{Join_C}._-])[\p{Join_C}._-]+$/gu, '');
  if (short === '' || DEVICE.test(short)) return `${otherwise}${extension || '.txt'}`;
  return `${dot}${short}${extension}`;
}

/** The name of the zip of a paste's files. */
export function archiveNameOf(title: string | null, shortCode: string): string {
  return `${fileNameOf(title, shortCode).replace(/(.)\.[A-Za-z0-9]{1,10}$/, '$1')}.zip`;
}

function cut(text: string): string {
  const encoder = new TextEncoder();
  let bytes = 0;
  let kept = '';
  for (const character of text) {
    bytes += encoder.encode(character).length;
    if (bytes > MAX_STEM_BYTES) break;
    kept += character;
  }
  return kept;
}
