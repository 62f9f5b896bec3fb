export type TextEncoding = 'utf-8' | 'utf-16le' | 'utf-16be';

/**
 * By the byte order mark, as browsers read a text: PowerShell's `>`, Notepad and regedit write UTF-16. Four
 * bytes that begin like it may be UTF-32, which no browser reads.
 */
export function encodingOf([first, second, third, fourth]: Uint8Array): TextEncoding {
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  if (first !== 0xff || second !== 0xfe || (third === 0 && fourth === 0)) return 'utf-8';
  return 'utf-16le';
}

/** The mark stays in a text in UTF-8, whose bytes are then those of the content. */
export function decoderOf(encoding: TextEncoding, { fatal = false } = {}): InstanceType<typeof TextDecoder> {
  return new TextDecoder(encoding, { fatal, ignoreBOM: encoding === 'utf-8' });
}

/** The text of a content. Bytes that are not of its encoding become U+FFFD. */
export function textOf(content: Uint8Array): string {
  return decoderOf(encodingOf(content)).decode(content);
}
