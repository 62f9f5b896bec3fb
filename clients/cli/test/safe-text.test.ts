import { describe, expect, it } from '@jest/globals';
import { safeContent, safeJson, safeText } from '../src/terminal/output.ts';

/**
 * Clears the screen, changes the title, moves by the one-byte CSI, reverses the text, hides it, ends the
 * line.
 */
const hostile = [
  '\u001b[2J',
  '\u001b]0;x\u0007',
  '\u009b1A',
  '\u202etxt.exe',
  'a\u200bb',
  'a\rb',
  '\u2028',
  '\ud800',
  '\u{e0041}',
  '\u007f',
];

/** What must never reach a terminal. */
const unsafe = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/u;

describe('safeText', () => {
  it.each(hostile)('leaves nothing of %j that a terminal could act on', (text) => {
    expect(safeText(`before${text}after`)).not.toMatch(unsafe);
  });

  it('shows what it has escaped, in one line', () => {
    expect(safeText('\u001b[31mred\n')).toBe('\\u{1b}[31mred\\u{a}');
  });

  it.each(['plain', 'Ünïcödé → ✓', '日本語', '😀', '\\u{1b}'])('keeps %s', (text) => {
    expect(safeText(text)).toBe(text);
  });
});

describe('safeContent', () => {
  it('keeps lines and tabs, and ends lines with LF', () => {
    expect(safeContent('a\tb\r\nc\n')).toBe('a\tb\nc\n');
  });

  it.each(hostile)('leaves nothing of %j that a terminal could act on', (text) => {
    expect(safeContent(text)).not.toMatch(unsafe);
  });
});

describe('safeJson', () => {
  it.each(hostile)('is one safe line with the same value: %j', (text) => {
    const printed = safeJson({ [text]: text });
    expect(printed).not.toMatch(unsafe);
    expect(JSON.parse(printed)).toEqual({ [text]: text });
  });
});
