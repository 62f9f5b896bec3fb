import { describe, expect, it } from '@jest/globals';
import { languagesWithGrammar, loadGrammar } from '../browser/highlight/grammars.ts';
import { languagesWithMode, loadMode } from '../browser/highlight/modes.ts';
import { MAX_LINE_MS, MAX_TEXT_MS, Tokenizer } from '../browser/highlight/tokenizer.ts';
import { MAX_PARSE_MS, readTree } from '../browser/highlight/tree.ts';
import { kinds } from '../browser/highlight/kinds.ts';
import { languages } from '@pasteflow/domain';

describe('the list of languages', () => {
  it('has a grammar or a mode for each language except plain text', () => {
    const wanted = languages.map(({ id }) => id).filter((id) => id !== 'text');
    const readable = new Set([...languagesWithMode, ...languagesWithGrammar]);
    expect([...readable].toSorted()).toEqual(wanted.toSorted());
  });
});

const modeOf = async (language: string) => (await loadMode(language))!;

const TEXT = `# Title
/* comment */ // comment
<tag attribute="value">text</tag>
function main(x) { return "string" + 'c' + 12.5; }
key: [1, true, null]
-removed
+added

if [ "$x" = y ]; then echo done; fi
\`\`\`
`;

/** Tokens follow one another, and none leaves its line. */
function expectTokens(tokens: Uint32Array, text: string): void {
  expect(tokens.length % 3).toBe(0);
  let end = 0;
  for (let i = 0; i < tokens.length; i += 3) {
    expect(tokens[i]).toBeGreaterThanOrEqual(end);
    end = tokens[i + 1]!;
    expect(tokens[i]).toBeLessThan(end);
    expect(text.slice(tokens[i], end)).not.toContain('\n');
    expect(kinds[tokens[i + 2]!]).toBeDefined();
  }
  expect(end).toBeLessThanOrEqual(text.length);
  expect(end).toBeGreaterThan(0);
}

/** What is coloured, with its kind. */
const coloured = (tokens: Uint32Array, text: string) =>
  Array.from({ length: tokens.length / 3 }, (_, i) => [
    text.slice(tokens[3 * i], tokens[3 * i + 1]),
    kinds[tokens[3 * i + 2]!],
  ]);

describe('the mode of each language', () => {
  it.each(languagesWithMode)('reads any text to its end: %s', async (language) => {
    expectTokens(new Tokenizer(await modeOf(language)).read(TEXT), TEXT);
  });

  it('continues in the next chunk where the last one ended', async () => {
    const tokenizer = new Tokenizer(await modeOf('javascript'));
    tokenizer.read('a /* open\n');
    expect(Array.from(tokenizer.read('still a comment */ b\n').slice(0, 3))).toEqual([
      0,
      18,
      kinds.indexOf('comment'),
    ]);
  });
});

describe('the grammar of each language', () => {
  const read = async (language: string, text: string) => {
    const [tokens] = readTree((await loadGrammar(language, text))!, [text]);
    return coloured(tokens!, text);
  };

  it.each(languagesWithGrammar.filter((language) => language !== 'json'))(
    'reads any text to its end: %s',
    async (language) => {
      const [tokens] = readTree((await loadGrammar(language, TEXT))!, [TEXT]);
      expectTokens(tokens!, TEXT);
    },
  );

  it.each([
    ['typescript', 'open<Door>(door.lock) + 1', ['open:call', 'Door:type', 'lock:property', '+:operator']],
    ['javascript', 'const a = f(<b c="d" />)', ['const:keyword', 'f:call', 'b:type', 'c:property']],
    ['python', 'class A: x = len(self.y)', ['A:type', 'len:call', 'y:property', '=:operator']],
    ['java', 'class A { B c = d.e(); }', ['B:type', 'c:definition', 'e:call']],
    ['c', 'struct a { int b; }; c(d->b);', ['a:type', 'b:property', 'c:call']],
    ['cpp', 'std::move(a)->b();', ['std:type', 'move:call', 'b:call']],
    ['go', 'func (t *T) F() { fmt.Println(t.A) }', ['T:type', 'Println:call', 'A:property']],
    ['rust', 'fn f(a: A) { println!("{}"); a.b() }', ['A:type', 'println:call', 'b:call']],
    ['php', '<b><?php echo strlen($a->b) + 1;', ['b:type', 'strlen:call', 'b:property', '+:operator']],
    ['html', '<a href="x"><script>f(1)</script>', ['href:property', 'f:call']],
    ['css', 'a:hover { color: red }', ['a:type', 'color:property', 'red:number']],
    ['json', '{"a": [1, "b"]}', ['"a":property', '1:number', '"b":string']],
    ['yaml', 'a: "b" # c', ['a:property', '"b":string', '# c:comment']],
    ['markdown', '# a\n```js\nf(1)\n```\n', [' a:heading', 'f:call']],
    ['sql', 'SELECT count(*) FROM t WHERE id >= 1', ['SELECT:keyword', '>=:operator', '1:number']],
    ['sql', 'SELECT `a` FROM t # c', ['SELECT:keyword', '# c:comment']],
    ['elixir', 'def f(a), do: IO.puts(a)', ['def:keyword', 'IO:type', 'puts:call']],
    ['hcl', 'a "b" {\n  c = lower(var.d)\n}', ['a:type', 'c:property', 'lower:call']],
    ['nix', '{ a = "b"; } # c', ['a:property', '"b":string', '# c:comment']],
    ['vue', '<a @b="c(1)">{{ d(2) }}</a>', ['@b:property', 'c:call', 'd:call']],
    ['svelte', '{#if a(1)}<b c={d(2)}>{e(3)}</b>{/if}', ['a:call', 'd:call', 'e:call']],
  ])('tells calls, types, properties and operators of %s: %s', async (language, text, expected) => {
    const all = (await read(language, text)).map((token) => token.join(':'));
    expect(all).toEqual(expect.arrayContaining(expected));
  });

  it('leaves names of columns plain, which are keywords elsewhere', async () => {
    expect(await read('sql', 'SELECT id, name')).toEqual([['SELECT', 'keyword']]);
  });

  it('counts from the begin of each chunk, and behind a byte order mark', async () => {
    const chunks = ['\ufefffoo(/* a\n', 'b */ 1);\n', 'bar();\n'];
    const tokens = readTree((await loadGrammar('javascript', ''))!, chunks);
    expect(tokens.map((each, index) => coloured(each, chunks[index]!))).toEqual([
      [
        ['foo', 'call'],
        ['/* a', 'comment'],
      ],
      [
        ['b */', 'comment'],
        ['1', 'number'],
      ],
      [['bar', 'call']],
    ]);
  });

  it('colours the beginning of a text that takes it long', async () => {
    let now = 0;
    const slowly = () => (now += MAX_PARSE_MS / 100);
    const text = 'foo(1);\n'.repeat(10_000);
    for (const language of ['javascript', 'php']) {
      const [tokens] = readTree((await loadGrammar(language, text))!, [text], slowly);
      expect(tokens!.length).toBeGreaterThan(0);
      expect(tokens!.length).toBeLessThan(1000);
    }
  });

  it('leaves to the mode what is no JSON, such as comments and several values', async () => {
    const parser = (await loadGrammar('json', ''))!;
    for (const text of ['{"a": 1} // b\n', '{"a": 1}\n{"a": 2}\n'])
      expect(() => readTree(parser, [text])).toThrow(SyntaxError);
  });
});

describe('a text that takes its mode long', () => {
  /** The clock of a browser in which each step of a mode takes a millisecond. */
  const slowly = () => {
    let now = 0;
    return () => (now += 1);
  };
  it('has the rest of each slow line plain, and colours in the next line', async () => {
    const tokenizer = new Tokenizer(await modeOf('shell'), slowly());
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
    const tokenizer = new Tokenizer(await modeOf('javascript'), slowly());
    const slowLines = MAX_TEXT_MS / MAX_LINE_MS;
    const text = `${'1 '.repeat(200)}\n`.repeat(slowLines + 1);
    expect(tokenizer.read(text).length).toBeGreaterThan(0);
    expect(tokenizer.read('// comment\n')).toHaveLength(0);
  });
});

describe('the mode of Markdown', () => {
  const read = async (text: string) => {
    return coloured(new Tokenizer(await modeOf('markdown')).read(text), text);
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
