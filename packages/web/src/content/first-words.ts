import { kindOf } from './content-kind.ts';
import { textOf } from './text-encoding.ts';

/** Enough of a content for its first words. */
export const FIRST_WORDS_BYTES = 1024;

const MAX_CHARACTERS = 80;

/**
 * The first words of a text in one line, to tell pastes without a title apart; null for what is no text or has
 * nothing to see. The colours of a terminal and the marks that change the direction of writing are left out.
 * @param beginning the first FIRST_WORDS_BYTES of the content, or all of a shorter one
 */
export function firstWordsOf(beginning: Buffer): string | null {
  const bytes = beginning.subarray(0, FIRST_WORDS_BYTES);
  if (kindOf(bytes) !== 'text') return null;
  const line = textOf(bytes)
    .replaceAll(COLOURS, '')
    .replaceAll(MARKS, '')
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  if (!/[\p{L}\p{N}\p{P}\p{S}]/u.test(line)) return null;
  const characters = Array.from(line);
  if (characters.length <= MAX_CHARACTERS) return line;
  const cut = characters.slice(0, MAX_CHARACTERS).join('');
  const end = cut.lastIndexOf(' ');
  return `${end > MAX_CHARACTERS / 2 ? cut.slice(0, end) : cut} …`;
}

// oxlint-disable-next-line no-control-regex -- ECMA-48, SGR
const COLOURS = /\u001b\[[\d;]*m/g;

/** The byte order mark, and UAX 9, table 4. */
const MARKS = /[\ufeff\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
