import { escapeHtml } from '../html/html.ts';

/** The embeddings, overrides and isolates of Unicode's bidirectional algorithm (UAX 9, table 4). */
export const BIDI_MARK = /[\u202a-\u202e\u2066-\u2069]/;

/** The decoder writes U+FFFD for bytes that are not UTF-8; markup can't hold U+0000. */
export const REPLACED = /[\ufffd\0]/; // oxlint-disable-line no-control-regex

/**
 * Text as markup of an element that keeps its white space. A parser would turn a carriage return into a
 * newline, unless it is a reference.
 */
export function textMarkup(text: string): string {
  return escapeHtml(text).replaceAll('\r', '&#13;').replaceAll('\0', '\ufffd');
}
