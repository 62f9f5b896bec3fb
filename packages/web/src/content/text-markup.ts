import { escapeHtml } from '../html/html.ts';

/** The embeddings, overrides and isolates of Unicode's bidirectional algorithm (UAX 9, table 4). */
export const BIDI_MARK = /[\u202a-\u202e\u2066-\u2069]/;

/** The decoder writes U+FFFD for bytes that are not UTF-8; markup can't hold U+0000. */
export const REPLACED = /[\ufffd\0]/; // oxlint-disable-line no-control-regex

/**
 * Text as markup of an element that keeps its white space. A parser would turn a carriage return into a
 * newline, unless it is a reference. A mark of direction would show the code around it in another order than
 * compilers read it (Trojan Source, CVE-2021-42574), so that its code point is shown.
 */
export function textMarkup(text: string): string {
  return escapeHtml(text)
    .replaceAll('\r', '&#13;')
    .replaceAll('\0', '\ufffd')
    .replaceAll(BIDI_MARKS, (mark) => `[U+${mark.charCodeAt(0).toString(16).toUpperCase()}]`);
}

const BIDI_MARKS = new RegExp(BIDI_MARK, 'g');
