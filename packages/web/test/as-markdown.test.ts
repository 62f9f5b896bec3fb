import { expect, it } from '@jest/globals';
import { marked } from 'marked';
import { asMarkdown } from '../browser/paste/as-markdown.ts';

it.each([
  ['a text', 'a\nb\n'],
  ['a text without a newline at its end', 'a'],
  ['a fence', '```js\nx\n```\n'],
  ['a longer fence', 'a ````` b\n```\n'],
])('makes one block of code, which ends behind the text: %s', (_name, text) => {
  const tokens = marked.lexer(asMarkdown(text, 'rust')) as { type: string; lang?: string; text?: string }[];
  expect(tokens.map((each) => [each.type, each.lang, each.text])).toEqual([
    ['code', 'rust', text.replace(/\n$/, '')],
  ]);
});

it('names no language of plain text', () => {
  expect(asMarkdown('a', 'text')).toBe('```\na\n```\n');
});
