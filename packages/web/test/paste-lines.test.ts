import { describe, expect, it } from '@jest/globals';
import { kindOf } from '../src/content/content-kind.ts';
import { encodingOf, type TextEncoding } from '../src/content/text-encoding.ts';
import { terminalKinds } from '../src/content/terminal.ts';
import { markupBytesOf, MAX_LINE_CHARACTERS, PasteLines } from '../src/content/paste-lines.ts';

/**
 * The markup of a text that arrives in pieces of this many bytes, and what a browser's parser makes of it.
 */
function render(text: string | Buffer, pieceBytes = Infinity, encoding?: TextEncoding) {
  const bytes = Buffer.from(text);
  const lines = new PasteLines(encoding);
  let markup = '';
  for (let start = 0; start < bytes.length; start += pieceBytes)
    markup += lines.push(bytes.subarray(start, Math.min(bytes.length, start + pieceBytes)));
  markup += lines.end();
  const chunks = [
    ...markup.matchAll(
      /<div class="([^"]+)">(?:<div class="numbers"[^>]*>([\d\n]*)<\/div><pre>\n([^<]*)<\/pre>|((?:<div id=L\d+ data-n=\d+>[^<]*<\/div>)+))<\/div>\n/g,
    ),
  ];
  expect(chunks.map(([all]) => all).join('')).toBe(markup); // nothing else is in the markup
  const parts = chunks.map(([, name, numbers, body, rows]) =>
    rows === undefined ? { name, numbers, body } : { name, ...readRows(rows) },
  );
  return {
    classes: parts.map(({ name }) => name),
    numbers: parts.map(({ numbers }) => numbers),
    text: parts.map(({ body = '' }) => unescapeHtml(body)).join(''),
    warnings: lines.warnings,
  };
}

function readRows(markup: string) {
  const rows = [...markup.matchAll(/<div id=L(\d+) data-n=(\d+)>([^<]*)<\/div>/g)];
  for (const [, id, number] of rows) expect(id).toBe(number);
  return {
    numbers: rows.map(([, , number]) => number).join('\n'),
    body: rows.map(([, , , text]) => text).join(''),
  };
}

function unescapeHtml(markup: string): string {
  const named: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"' };
  return markup.replaceAll(/&(?:#(\d+)|(\w+));/g, (_all, code, name) =>
    code === undefined ? named[name as string]! : String.fromCodePoint(Number(code)),
  );
}

const plain = { bidi: false, notUtf8: false, longLines: false, cut: false };

describe('the lines of a paste', () => {
  it.each([
    ['one line without an end', 'hello', '1'],
    ['one line with an end', 'hello\n', '1'],
    ['empty lines', '\n\n\n', '1\n2\n3'],
    ['a first empty line, which a parser would drop', '\nx', '1\n2'],
    ['markup', '<script>alert("x")</script> &amp; \'', '1'],
    ['letters outside of the basic plane', '😀\n𝒳\n', '1\n2'],
  ])('keep %s', (_name, text, numbers) => {
    expect(render(text)).toEqual({ classes: ['chunk tail'], numbers: [numbers], text, warnings: plain });
  });

  it('are the same however the bytes arrive', () => {
    const text = `${'ä😀x\n'.repeat(600)}${'y'.repeat(3 * MAX_LINE_CHARACTERS)}\nend`;
    const whole = render(text);
    for (const bytes of [1, 7, 4096]) expect(render(text, bytes)).toEqual(whole);
  });

  it('are in chunks of 256 lines', () => {
    const text = 'line\n'.repeat(600);
    const { classes, numbers, text: shown } = render(text);
    expect(classes).toEqual(['chunk', 'chunk', 'chunk tail']);
    expect(numbers.map((each) => each!.split('\n').length)).toEqual([256, 256, 88]);
    expect(numbers[1]!.startsWith('257\n')).toBe(true);
    expect(shown).toBe(text);
  });

  it('are rows up to line 5,120, and then one text for each chunk', () => {
    const lines = new PasteLines();
    const markup = lines.push(Buffer.from('x\n'.repeat(6000))) + lines.end();
    expect(markup.match(/<div id=L/g)).toHaveLength(5120);
    expect(markup).toContain('aria-hidden="true">5121\n5122');
    const { numbers, text } = render('x\n'.repeat(6000), 1000);
    expect(numbers.join('\n')).toBe(Array.from({ length: 6000 }, (_, index) => index + 1).join('\n'));
    expect(text).toBe('x\n'.repeat(6000));
  });

  it('end after 300,032 lines, and say so', () => {
    const lines = new PasteLines();
    const markup =
      lines.push(Buffer.from('x\n'.repeat(300_100))) + lines.push(Buffer.from('y')) + lines.end();
    expect(markup).toContain('\n300032</div>');
    expect(markup).not.toContain('300033');
    expect(markup).not.toContain('y');
    expect(lines.warnings).toEqual({ ...plain, cut: true });
  });

  it('end without a warning when the text has exactly 300,032 lines', () => {
    const lines = new PasteLines();
    const markup = lines.push(Buffer.from('x\n'.repeat(300_032))) + lines.end();
    expect(markup).toContain('\n300032</div>');
    expect(lines.warnings).toEqual(plain);
  });

  it('end with the warning when only empty lines follow', () => {
    const lines = new PasteLines();
    lines.push(Buffer.from('\n'.repeat(300_032)));
    lines.push(Buffer.from('\n\n'));
    expect(lines.warnings).toEqual({ ...plain, cut: true });
  });

  it('lose the carriage return of CR LF, and keep any other', () => {
    expect(render('a\r\nb\rc\n').text).toBe('a\nb\rc\n');
  });

  it('show NUL and bytes that are not UTF-8 as a replacement, and say so', () => {
    expect(render('a\0b')).toMatchObject({ text: 'a\ufffdb', warnings: { ...plain, notUtf8: true } });
    expect(render(Buffer.from([0x61, 0xff, 0x62]))).toMatchObject({
      text: 'a\ufffdb',
      warnings: { ...plain, notUtf8: true },
    });
  });

  it('show the code points of marks that change the direction of the text, and say so', () => {
    expect(render('if (x) {\u2066 // \u202e}')).toMatchObject({
      text: 'if (x) {[U+2066] // [U+202E]}',
      warnings: { ...plain, bidi: true },
    });
  });

  it.each(['utf-16le', 'utf-16be'] as const)('are read from %s, however the bytes arrive', (encoding) => {
    const text = 'ä😀x\r\n'.repeat(600);
    const bytes = Buffer.from(`\ufeff${text}`, 'utf16le');
    if (encoding === 'utf-16be') bytes.swap16();
    expect(encodingOf(bytes)).toBe(encoding);
    expect(kindOf(bytes)).toBe('text');
    for (const size of [1, 7, bytes.length])
      expect(render(bytes, size, encoding)).toMatchObject({
        text: text.replaceAll('\r', ''),
        warnings: plain,
      });
  });

  it.each([
    ['UTF-16 without its mark', Buffer.from('text', 'utf16le')],
    ['UTF-32', Buffer.from([0xff, 0xfe, 0, 0, 0x61, 0, 0, 0])],
    ['bytes that begin like UTF-16', Buffer.from([0xff, 0xfe, 0, 0xd8, 0x61, 0, 1, 2])],
    ['a program', Buffer.from('\x7fELF\x02\x01\x01\0\0', 'latin1')],
  ])('are none in %s', (_name, bytes) => {
    expect(kindOf(bytes)).toBe('binary');
  });
});

describe('a line of more than 10,000 characters', () => {
  it('is folded into parts, of which the first has the number of the line', () => {
    const text = `first\n${'x'.repeat(25_000)}\nlast\n`;
    const { classes, numbers, text: shown, warnings } = render(text);
    expect(classes).toEqual(['chunk', 'chunk long', 'chunk long', 'chunk long', 'chunk tail']);
    expect(numbers).toEqual(['1', '2', '', '', '3']);
    expect(shown).toBe(text.replace(`x\nlast`, 'xlast')); // its end is the end of the part
    expect(warnings).toEqual({ ...plain, longLines: true });
  });

  it('is never cut within a letter', () => {
    const text = `x${'😀'.repeat(MAX_LINE_CHARACTERS)}`;
    expect(render(text, 1000).text).toBe(text);
  });

  it('holds at most one part in memory', () => {
    const lines = new PasteLines();
    const piece = Buffer.from('x'.repeat(65_536));
    for (let i = 0; i < 160; i += 1) expect(lines.push(piece).length).toBeGreaterThan(60_000);
    expect(lines.end().length).toBeLessThan(2 * MAX_LINE_CHARACTERS);
  });
});

describe('the markup of a text', () => {
  it.each([
    '\n',
    '"',
    '"\n',
    '\r\n',
    '\0',
    '\xff',
    "a'\n",
    '\x1b[1;4;31mx',
    '\x1b[1;4;31mx\n',
    `\x1b[1;4;31m${'x\n'.repeat(20)}`,
    '\x1b[1m"\n',
  ])('of %j alone is no larger than expected', (unit) => {
    const frame = '<div class="chunk tail"></div>\n'.length;
    for (const bytes of [1, 100, 5120, 5121, 20_000, 256 * 1024]) {
      const text = Buffer.alloc(bytes, Buffer.from(unit, 'latin1'));
      const lines = new PasteLines();
      const markup = Buffer.byteLength(lines.push(text) + lines.end());
      expect(markup).toBeLessThanOrEqual(bytes * markupBytesOf(bytes) + frame);
    }
  });
});

describe('a text on a page of several', () => {
  it('has addresses of its own, and rows and lines only where the texts above leave room', () => {
    const at = (linesAbove: number) => {
      const lines = new PasteLines('utf-8', '', { prefix: 'f2-', linesAbove });
      const markup = lines.push(Buffer.from('a\nb\n')) + lines.end();
      return { markup, count: lines.lineCount, cut: lines.warnings.cut };
    };
    expect(at(0).markup).toContain('<div id=f2-L2 data-n=2>b\n</div>');
    expect(at(5120)).toMatchObject({ markup: expect.not.stringContaining('id='), count: 2, cut: false });
    expect(at(300_032)).toEqual({ markup: '', count: 0, cut: true });
  });

  it.each(['\n', '"\n', '\0', '\x1b[1;4;31mx\n'])('of %j alone is no larger than expected', (unit) => {
    for (const bytes of [100, 5120, 256 * 1024]) {
      const lines = new PasteLines('utf-8', '', { prefix: 'f100-', linesAbove: 0 });
      const markup = Buffer.byteLength(lines.push(Buffer.alloc(bytes, unit)) + lines.end());
      expect(markup).toBeLessThanOrEqual(bytes * markupBytesOf(bytes, 2));
    }
  });
});

describe('the output of a terminal', () => {
  const shown = (text: string, language = '') => {
    const lines = new PasteLines('utf-8', language);
    const markup = lines.push(Buffer.from(text)) + lines.end();
    const chunks = [
      ...markup.matchAll(/<div class="chunk[^>]*?(?: data-runs="([\d,]*)")?>(.*?)<\/div>\n(?=<|$)/gs),
    ];
    return chunks.map(([, runs, inner = '']) => {
      const chunk = inner
        .replaceAll(/<div class="numbers".*?<\/div>/gs, '')
        .replaceAll(/<pre>\n|<[^>]*>/g, '');
      const numbers = (runs ?? '').split(',').map(Number);
      return [
        chunk,
        ...Array.from({ length: Math.floor(numbers.length / 3) }, (_, i) => [
          chunk.slice(numbers[3 * i], numbers[3 * i + 1]),
          terminalKinds[numbers[3 * i + 2]!],
        ]),
      ];
    });
  };

  it('has its colours as runs, line by line, and its text without codes', () => {
    expect(shown('a \x1b[31mred\nstill\x1b[0m, \x1b[1;4;92mbold\x1b[22;24m\x1b[39m end\x1b[m\n')).toEqual([
      [
        'a red\nstill, bold end\n',
        ['red', 'deleted'],
        ['still', 'deleted'],
        ['bold', 'inserted'],
        ['bold', 'strong'],
        ['bold', 'under'],
      ],
    ]);
  });

  it.each([
    ['\x1b[38;5;196mx', 'deleted'],
    ['\x1b[38;5;33mx', 'definition'],
    ['\x1b[38;2;250;10;10mx', 'deleted'],
    ['\x1b[38:2:250:10:10mx', 'deleted'],
    ['\x1b[38;5;244mx', 'comment'],
    ['\x1b[90mx', 'comment'],
    ['\x1b[2mx', 'comment'],
    ['\x1b[37;41mx', 'on-bad'],
    ['\x1b[32;7mx', 'on-good'],
    ['\x1b[7mx', 'on'],
  ])('has the nearest kind for %j: %s', (text, kind) => {
    expect(shown(text)).toEqual([['x', ['x', kind]]]);
  });

  it('shows every other control sequence, and what is hidden', () => {
    expect(shown('a\x1b[2Kb\x1b]8;;http://x\x07\x1b[8mc')).toEqual([['a␛[2Kb␛]8;;http://x\x07c']]);
  });

  it('is as it is in a text of another language', () => {
    expect(shown('echo "\x1b[31m"', 'shell')).toEqual([['echo "\x1b[31m"'.replaceAll('"', '&quot;')]]);
  });

  it('has no code cut where a long line is folded', () => {
    const parts = shown(`${'x'.repeat(MAX_LINE_CHARACTERS - 2)}\x1b[31mred`);
    expect(parts.map(([text]) => (text as string).length)).toEqual([MAX_LINE_CHARACTERS - 2, 3]);
    expect(parts[1]).toEqual(['red', ['red', 'deleted']]);
  });
});
