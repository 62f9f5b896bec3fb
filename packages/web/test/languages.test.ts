import { describe, expect, it } from '@jest/globals';
import { languagesWithMode, loadMode } from '../browser/highlight/modes.ts';
import { MAX_LINE_MS, MAX_TEXT_MS, Tokenizer } from '../browser/highlight/tokenizer.ts';
import { kinds } from '../browser/highlight/kinds.ts';
import { languages } from '@pasteflow/domain';

describe('the list of languages', () => {
  it('has one mode for each language except plain text', () => {
    const wanted = languages.map(({ id }) => id).filter((id) => id !== 'text');
    expect([...languagesWithMode].toSorted()).toEqual(wanted.toSorted());
  });
});

describe('the mode of each language', () => {
  const text = `# Title
/* comment */ // comment
<tag attribute="value">text</tag>
function main(x) { return "string" + 'c' + 12.5; }
key: [1, true, null]
-removed
+added

if [ "$x" = y ]; then echo done; fi
\`\`\`
`;

  it.each(languagesWithMode)('reads any text to its end: %s', async (language) => {
    const tokens = new Tokenizer(await loadMode(language)).read(text);
    expect(tokens.length % 3).toBe(0);
    let end = 0;
    for (let i = 0; i < tokens.length; i += 3) {
      expect(tokens[i]).toBeGreaterThanOrEqual(end);
      end = tokens[i + 1]!;
      expect(tokens[i]).toBeLessThan(end);
      expect(kinds[tokens[i + 2]!]).toBeDefined();
    }
    expect(end).toBeLessThanOrEqual(text.length);
    expect(end).toBeGreaterThan(0);
  });

  it('continues in the next chunk where the last one ended', async () => {
    const tokenizer = new Tokenizer(await loadMode('javascript'));
    tokenizer.read('a /* open\n');
    expect(Array.from(tokenizer.read('still a comment */ b\n').slice(0, 3))).toEqual([
      0,
      18,
      kinds.indexOf('comment'),
    ]);
  });
});

describe('a text that takes its mode long', () => {
  /** The clock of a browser in which each step of a mode takes a millisecond. */
  const slowly = () => {
    let now = 0;
    return () => (now += 1);
  };
  it('has the rest of each slow line plain, and colours in the next line', async () => {
    const tokenizer = new Tokenizer(await loadMode('shell'), slowly());
    const line = '$a '.repeat(3000);
    const tokens = tokenizer.read(`${line}\n# comment\n`);
    const coloured = Array.from(tokens.filter((_, index) => index % 3 === 1)).filter(
      (end) => end <= line.length,
    );
    expect(coloured.length).toBeGreaterThan(0);
    expect(coloured.length).toBeLessThanOrEqual(MAX_LINE_MS);
    expect(Array.from(tokens.slice(-3))).toEqual([
      line.length + 1,
      line.length + 10,
      kinds.indexOf('comment'),
    ]);
  });

  it('has the rest of the text plain after too many slow lines', async () => {
    const tokenizer = new Tokenizer(await loadMode('javascript'), slowly());
    const slowLines = MAX_TEXT_MS / MAX_LINE_MS;
    const text = `${'1 '.repeat(200)}\n`.repeat(slowLines + 1);
    expect(tokenizer.read(text).length).toBeGreaterThan(0);
    expect(tokenizer.read('// comment\n')).toHaveLength(0);
  });
});

describe('the mode of Markdown', () => {
  const read = async (text: string) => {
    const tokens = new Tokenizer(await loadMode('markdown')).read(text);
    return Array.from({ length: tokens.length / 3 }, (_, i) => [
      text.slice(tokens[3 * i], tokens[3 * i + 1]),
      kinds[tokens[3 * i + 2]!],
    ]);
  };

  it('colours headings, marks of lists and quotes, code, links and emphasis', async () => {
    expect(await read('## Title\n')).toEqual([['## Title', 'heading']]);
    expect(await read('\ufeff# Title\n')).toEqual([['# Title', 'heading']]);
    expect(await read('- item `code` and **bold**\n')).toEqual([
      ['-', 'keyword'],
      ['`code`', 'string'],
      ['**bold**', 'definition'],
    ]);
    expect(await read('> quote [link](https://example.org)\n')).toEqual([
      ['>', 'keyword'],
      ['[link](https://example.org)', 'string'],
    ]);
  });

  it('reads a fenced block to its end, whatever is in it', async () => {
    expect(await read('```js\n# no title\n```\n# Title\n')).toEqual([
      ['```js', 'string'],
      ['# no title', 'string'],
      ['```', 'string'],
      ['# Title', 'heading'],
    ]);
  });
});
