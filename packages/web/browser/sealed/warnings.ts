import type { TextWarnings } from '../../src/content/paste-lines.ts';
import type { SealedWords } from './messages.ts';

/** What a reader should know of a text, below its lines. */
export function warnings(
  { bidi, notUtf8, longLines, cut }: TextWarnings,
  words: SealedWords,
): readonly HTMLElement[] {
  const texts = [
    bidi && words.bidi,
    notUtf8 && words.notUtf8,
    longLines && words.longLines,
    cut && words.cut,
  ];
  return texts.flatMap((text) => {
    if (text === false) return [];
    const warning = document.createElement('p');
    warning.className = 'warning';
    warning.dir = document.documentElement.dir; // the lines around it go from left to right
    warning.setAttribute('role', 'note');
    warning.textContent = text;
    return [warning];
  });
}
