import { describe, expect, it } from '@jest/globals';
import { renderMarkdown } from '../browser/markdown/render.ts';

const KIB = 1024;

describe('Markdown', () => {
  it.each([
    ['a heading below the title of the page', '# a', '<h2 id="a">a</h2>\n'],
    ['a heading after a byte order mark', '\ufeff# a', '<h2 id="a">a</h2>\n'],
    ['the lowest heading', '###### a', '<h6 id="a">a</h6>\n'],
    [
      'headings with the ids that GitHub gives them',
      '# Getting `started` & more!\n\n# Füße_2\n\n# Füße_2\n\n# !',
      '<h2 id="getting-started--more">Getting <code>started</code> &amp; more!</h2>\n<h2 id="füße_2">Füße_2</h2>\n<h2 id="füße_2-1">Füße_2</h2>\n<h2>!</h2>\n',
    ],
    [
      'raw links and images with their addresses alone',
      '<a href="https://b.example" onclick="x()" name=top><IMG SRC=\'c.png\' alt="a &quot; b" style="x"></a>',
      '<p><a href="https://b.example" id="top"><img src="c.png" alt="a &quot; b"></a></p>\n',
    ],
    [
      'no address of another name',
      '<a xlink:href="https://b.example" data-href=x>a</a>',
      '<p><a>a</a></p>\n',
    ],
    [
      'the image of a picture',
      '<picture>\n<source srcset="x">\n<img src="a">\n</picture>',
      '\n\n<img src="a">\n',
    ],
    [
      'front matter as code',
      '---\r\na: b\r\n---\r\nc',
      '<pre><code start="yaml">a: b\n</code></pre>\n<p>c</p>\n',
    ],
    ['dashes that are no front matter', '---\na\n---\n', '<hr>\n<h3 id="a">a</h3>\n'],
    [
      'an alert with its kind',
      '> [!Note]\n> a\n>\n> b',
      '<blockquote start="note">\n<p>a</p>\n<p>b</p>\n</blockquote>\n',
    ],
    ['a quote that names no kind of alert', '> [!x] a', '<blockquote>\n<p>[!x] a</p>\n</blockquote>\n'],
    [
      'footnotes in the order of their references, and what is none as text',
      'a[^b] c[^1] d[^b] e[^x]\n\n[^1]: *one*\n[^b]: two\n\n    more\n\nend',
      '<p>a<sup><a href="#fn-1" id="fnref-1">1</a></sup> c<sup><a href="#fn-2" id="fnref-2">2</a></sup> d<sup><a href="#fn-1">1</a></sup> e[^x]</p>\n<p>end</p>\n<hr>\n<ol>\n<li id="fn-1"><p>two</p>\n<p>more <a href="#fnref-1">↩</a></li>\n<li id="fn-2"><p><em>one</em> <a href="#fnref-2">↩</a></li>\n</ol>\n',
    ],
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
    [
      'any other element as text',
      'a <embed src=x onerror=y> <b',
      '<p>a &lt;embed src=x onerror=y> &lt;b</p>\n',
    ],
    ['no comments', '<!-- a\n<script> -->\n\n*b*<!--c-->', '<p><em>b</em></p>\n'],
    ['no comments between raw tags', '<p>\n<!-- a -->\n<b>b</b><!-- <c> -->\n</p>', '<p>\n\n<b>b</b>\n</p>'],
    ['raw headings as those of Markdown', '<h1 align=center>a</h1>\n<H6>b</H6>', '<h2>a</h2>\n<h6>b</h6>'],
    ['more images and anchors than elements may be nested', '![a](b)<a name=c>'.repeat(100), /^<p><img/],
    ['nothing for a comment without an end', '<!-- a\n\nb', ''],
    ['a table', '|a|\n|-|\n|b|', /<table>[^]*<th>a<\/th>/],
    ['a line of dashes after a long line', `${'a|'.repeat(60_000)}\n---`, /<h3 id="a+/],
    ['footnotes in footnotes', '[^a]: '.repeat(40_000), /^$|^<p>/],
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
    [
      'elements in each other after ends of none',
      `${'</b>'.repeat(100)}${'<div>'.repeat(100)}`,
      'Elements are nested',
    ],
    ['elements in each other between ends of others', '<div></b>'.repeat(100), 'Elements are nested'],
    ['tables in each other', '<table><tr><td>'.repeat(100), 'Elements are nested'],
    ['more elements than a page can show', '*a* '.repeat(64 * KIB), 'tags'],
  ])('is not rendered, because it was written to freeze a tab: %s', (_name, text, reason) => {
    expect(() => renderMarkdown(text)).toThrow(reason);
  });
});
