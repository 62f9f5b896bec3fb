/**
 * With a short code before it and an extension behind it, a name stays below the file systems' limit of 255
 * bytes.
 */
const MAX_STEM_BYTES = 180;

/** Windows opens a device under these names, with any extension. */
const DEVICE = /^(con|prn|aux|nul|(com|lpt)[1-9¹²³])(\.|$)/i;

/**
 * The name of a paste's file, valid on every file system: the title with unsafe characters replaced. Letters
 * keep their marks, which Hindi and Tamil write as characters of their own; ZWNJ and ZWJ join letters in
 * Persian and Hindi. A long title is cut before its extension.
 * @param title null: none @param otherwise the name without an extension of a paste whose title has no usable
 * character, or names a device of Windows
 * @returns a name with an extension; default: .txt
 */
export function fileNameOf(title: string | null, otherwise: string): string {
  const [, stem = '', extension = '.txt'] = /^(.*?)(\.[A-Za-z0-9]{1,10})?$/s.exec(title ?? '') ?? [];
  const safe = stem
    .normalize('NFC')
    .replaceAll(/[^\p{L}\p{M}\p{N}\p{Join_C}._-]+/gu, '_')
    .replaceAll(/^[\p{M}\p{Join_C}._-]+/gu, '');
  const short = cut(safe).replaceAll(/(?<![\p{Join_C}._-])[\p{Join_C}._-]+$/gu, '');
  return `${short === '' || DEVICE.test(short) ? otherwise : short}${extension}`;
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
