import { describe, expect, it } from '@jest/globals';
import { firstWordsOf } from '../src/index.ts';

const of = (text: string | Buffer) => firstWordsOf(Buffer.from(text));

describe('the first words', () => {
  it.each([
    ['hello', 'hello'],
    ['\ufeff\n\n  # Title\r\n\r\ntext\tand\u00a0more', '# Title text and more'],
    ['\u001b[1;31mred\u001b[0m alert \u202Etxet\u2066', 'red alert txet'],
    [Buffer.from('\ufeffPowerShell', 'utf16le'), 'PowerShell'],
    ['<script>alert(1)</script>', '<script>alert(1)</script>'], // the page escapes them
    ['\u{1f600}'.repeat(90), `${'\u{1f600}'.repeat(80)} …`],
  ])('of %j are %j', (text, words) => expect(of(text)).toBe(words));

  it('end with a whole word', () => {
    const words = of('word '.repeat(1000));
    expect(words).toBe(`${'word '.repeat(16).trim()} …`);
  });

  it.each([
    ['an image', Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')],
    ['zeros', Buffer.alloc(20)],
    ['white space', ' \n\t '],
    ['what nobody sees', '\u200b\u2060\u202e'],
  ])('are none of %s', (_name, content) => expect(of(content)).toBeNull());
});
