import { describe, expect, it } from '@jest/globals';
import { renderMarkdown } from '../browser/markdown/render.ts';

const KIB = 1024;

describe('Markdown', () => {
  it.each([
    ['a heading below the title of the page', '# a', '<h2>a</h2>\n'],
    ['a heading after a byte order mark', '\ufeff# a', '<h2>a</h2>\n'],
    ['the lowest heading', '###### a', '<h6>a</h6>\n'],
    ['a task', '- [x] done', '<ul>\n<li>☑ done</li>\n</ul>\n'],
    [
      'a link without its tooltip',
      '[a](https://b.example "c")',
      '<p><a href="https://b.example">a</a></p>\n',
    ],
    [
      'simple elements',
      '<p align=center>a<BR/><kbd>b & c < d</kbd></p>',
      '<p>a<BR><kbd>b & c &lt; d</kbd></p>',
    ],
    ['any other element as text', 'a <img src=x onerror=y> <b', '<p>a &lt;img src=x onerror=y> &lt;b</p>\n'],
    ['no comments', '<!-- a\n<script> -->\n\n*b*<!--c-->', '<p><em>b</em></p>\n'],
    ['nothing for a comment without an end', '<!-- a\n\nb', ''],
    ['a table', '|a|\n|-|\n|b|', /<table>[^]*<th>a<\/th>/],
    ['a line of dashes after a long line', `${'a|'.repeat(60_000)}\n---`, /<h3>/],
  ])('renders %s', (_name, text, markup) => {
    if (typeof markup === 'string') expect(renderMarkdown(text)).toBe(markup);
    else expect(renderMarkdown(text).slice(0, 100)).toMatch(markup);
  });

  it.each([
    ['quotes', '>'.repeat(256 * KIB), 'nested'],
    ['lists on one line', '+ '.repeat(128 * KIB), 'nested'],
    [
      'lists below each other',
      Array.from({ length: 400 }, (_, i) => `${'  '.repeat(i)}- x`).join('\n'),
      'nested',
    ],
    [
      'a table of billions of cells',
      `${'|a'.repeat(20_000)}\n${'|-'.repeat(20_000)}\n${'|\n'.repeat(60_000)}`,
      'cells',
    ],
    [
      'a long link that is used often',
      `[a]: http://x/${'y'.repeat(10_000)}\n\n${'[a]'.repeat(80_000)}`,
      'links',
    ],
    [
      'a long image that is used often',
      `[a]: http://x/${'y'.repeat(10_000)}\n\n${'![a]'.repeat(60_000)}`,
      'links',
    ],
    ['elements in each other', '<div>'.repeat(100), 'Elements are nested'],
    ['tables in each other', '<table><tr><td>'.repeat(100), 'Elements are nested'],
    ['more elements than a page can show', '*a* '.repeat(64 * KIB), 'tags'],
  ])('is not rendered, because it was written to freeze a tab: %s', (_name, text, reason) => {
    expect(() => renderMarkdown(text)).toThrow(reason);
  });
});
