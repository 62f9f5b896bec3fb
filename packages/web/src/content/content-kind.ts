import { decoderOf, encodingOf } from './text-encoding.ts';

/** What the bytes of a paste are, whatever its title says. */
export type ContentKind = 'text' | 'binary' | ImageType;

/** Images that every browser shows, and that run nothing. SVG is text that can have scripts. */
export type ImageType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp' | 'image/avif';

/** Enough of a content to know its kind. */
export const BEGINNING_BYTES = 4096;

/** The first bytes of each type, as Latin-1. */
const IMAGES: readonly (readonly [type: ImageType, begin: RegExp])[] = [
  ['image/png', /^\x89PNG\r\n[^]\n/],
  ['image/jpeg', /^\xff\xd8\xff/],
  ['image/gif', /^GIF8[79]a/],
  ['image/webp', /^RIFF[^]{4}WEBP/],
  ['image/avif', /^[^]{4}ftypavi[fs]/],
];

/**
 * An image by the bytes that its format begins with. Else a content with a NUL byte is no text, as in git,
 * unless it is UTF-16, nor is one with many control characters; a text in Latin-1 or with some damage has few.
 * @param beginning the first BEGINNING_BYTES of the content, or all of a shorter one
 */
export function kindOf(beginning: Uint8Array): ContentKind {
  const begin = String.fromCharCode(...beginning.subarray(0, 16));
  const image = IMAGES.find(([, each]) => each.test(begin));
  if (image !== undefined) return image[0];
  const bytes = asUtf8(beginning.subarray(0, BEGINNING_BYTES));
  return bytes.includes(0) || bytes.filter(isControl).length * 10 > bytes.length ? 'binary' : 'text';
}

/** A beginning in UTF-16 may end within a letter. What is no UTF-16 stays as it is. */
function asUtf8(bytes: Uint8Array): Uint8Array {
  const encoding = encodingOf(bytes);
  if (encoding === 'utf-8') return bytes;
  try {
    return new TextEncoder().encode(decoderOf(encoding, { fatal: true }).decode(bytes, { stream: true }));
  } catch {
    return bytes;
  }
}

/** Not the white space, the bell and the colours of a terminal. */
function isControl(byte: number): boolean {
  return byte < 0x20 && (byte < 0x07 || byte > 0x0d) && byte !== 0x1b;
}
