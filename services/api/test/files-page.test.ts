import { beforeAll, describe, expect, it } from '@jest/globals';
import { placedFiles } from '@pasteflow/domain';
import { useApi } from './support/api.ts';
import { ownForm, ownPage } from './support/http.ts';
import { compressedPaste, processedPaste, type Ownership } from './support/pastes.ts';

const bed = useApi();
const BROWSER = { accept: 'text/html,*/*;q=0.8' };
const PNG = Buffer.from('\x89PNG\r\n\x1a\n and what follows\0', 'latin1');

interface NewFile {
  readonly name: string;
  readonly content: Buffer | string;
  readonly syntax?: string;
}

/** A stored paste of these files. @returns its short code */
async function pasteOf(
  files: readonly NewFile[],
  ownership: Ownership = {},
  store = processedPaste,
): Promise<string> {
  const content = Buffer.concat(files.map((each) => Buffer.from(each.content)));
  const placed = placedFiles(
    files.map(({ name, content: of, syntax = null }) => ({ name, size: Buffer.byteLength(of), syntax })),
  );
  return await store(bed, content, { ...ownership, files: placed });
}

const open = (path: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
  fetch(bed.api.url + path, { headers: { ...BROWSER, ...headers } });
const pageOf = async (path: string): Promise<string> => await (await open(path)).text();

/** The parts of the page, each of one file. */
function partsOf(page: string): readonly string[] {
  return [...page.matchAll(/<article .*?<\/article>/gs)].map(([part]) => part);
}

const REPLACED = 'Some bytes of this paste are not UTF-8';

describe('the page of a paste of several files', () => {
  let page = '';
  let parts: readonly string[] = [];
  let code = '';
  beforeAll(async () => {
    code = await pasteOf([
      { name: 'src/main.ts', content: 'const a = 1;\n' },
      { name: 'README.md', content: '# x\n' },
      { name: 'begins.txt', content: Buffer.from([0x61, 0xc3]) },
      { name: 'ends.txt', content: Buffer.from([0xa9, 0x62]) },
      { name: 'empty', content: '' },
      { name: 'tool', content: Buffer.from('\x7fELF\0\0\0\0\0', 'latin1') },
      { name: 'logo.png', content: PNG },
      { name: 'run', content: '#!/usr/bin/env python3\n' },
      { name: 'plain & (b)', content: '<script>alert(1)</script>', syntax: 'java' },
      { name: 'utf-16.txt', content: Buffer.from('\ufeffé', 'utf16le') },
    ]);
    page = await pageOf(`/${code}`);
    parts = partsOf(page);
  });

  it('has each file, with its name and size in a list above', () => {
    expect(parts).toHaveLength(10);
    expect(page).toContain(
      '<a href="#f1"><bdi>src/main.ts</bdi></a><small><bdi>TypeScript</bdi> · 13 bytes</small>',
    );
    expect(page).toContain('<h1><bdi>src/main.ts</bdi> and 9 more');
    expect(page).toContain('<span>10 files</span>');
    expect(page.endsWith('</html>\n')).toBe(true);
  });

  it('has addresses of the lines of each file, and links to its bytes', () => {
    expect(parts[0]).toContain('<div id=f1-L1 data-n=1>const a = 1;');
    expect(parts[1]).toContain('<div id=f2-L1 data-n=1># x');
    expect(parts[0]).toContain(`href="/${code}/files/src/main.ts" download="main.ts"`);
    expect(parts[8]).toContain(`href="/${code}/files/plain%20%26%20(b)"`);
    expect(page).toContain(`href="/${code}/archive"`);
  });

  it('judges each file by itself', () => {
    expect(parts[2]).toContain('>a\ufffd</div>');
    expect(parts[3]).toContain('>\ufffdb</div>');
    expect(parts.map((part) => part.includes(REPLACED))).toEqual(
      parts.map((_, index) => index === 2 || index === 3),
    );
    expect(parts[4]).toContain('This file is empty.');
    expect(parts[5]).toContain('<bdi>Binary file</bdi> · 9 bytes');
    expect(parts[5]).toContain(`href="/${code}?view=text#f6"`);
    expect(parts[6]).toContain(`src="data:image/png;base64,${PNG.toString('base64')}"`);
    expect(parts[7]).toContain('<small><bdi>Python</bdi> · 23 bytes</small>');
    expect(parts[8]).toContain('data-language="java"');
    expect(parts[8]).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(parts[9]).toContain('>é</div>');
    expect(page).not.toContain('<script>alert');
  });

  it('may show images inside of it, and runs nothing', async () => {
    const { headers } = await open(`/${code}`);
    expect(headers.get('content-security-policy')).toContain("img-src 'self' data:;");
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
  });

  it('shows what is no text as one, when the reader asks for that', async () => {
    const [, , , , , tool] = partsOf(await pageOf(`/${code}?view=text`));
    expect(tool).toContain('\u007fELF\ufffd');
  });

  it('is known to a browser that has it', async () => {
    const etag = (await open(`/${code}`)).headers.get('etag')!;
    expect((await open(`/${code}`, { 'if-none-match': etag })).status).toBe(304);
  });
});

it('a long content of 100 files is shown in one pass, compressed or not, and as a whole', async () => {
  const files = Array.from({ length: 100 }, (_, index) => ({
    name: `src/${index}.js`,
    content: `${index}\n`.repeat(index === 50 ? 250_000 : 3000),
  }));
  for (const store of [processedPaste, compressedPaste]) {
    const parts = partsOf(await pageOf(`/${await pasteOf(files, {}, store)}`));
    expect(parts).toHaveLength(100);
    expect(parts.filter((part) => part.includes('id=f')).length).toBe(2); // rows, which take memory
    expect(parts[1]).toContain('<div id=f2-L1 data-n=1>1\n</div>');
    expect(parts[49]).toContain('1\n2\n3');
    const cut = parts.map((part) => part.includes('The page shows the first 300,032 lines.'));
    expect(cut.indexOf(true)).toBe(50);
    expect(cut.slice(50)).toEqual(cut.slice(50).map(() => true));
  }
});

it('the page of a text alone is as before', async () => {
  const page = await pageOf(`/${await processedPaste(bed, 'x')}`);
  expect(page).toContain('<section id="content"');
  expect(page).toContain('<div id=L1 data-n=1>x</div>');
});

describe('a paste of several files that is read once', () => {
  const files = [
    { name: 'a.txt', content: 'a secret' },
    { name: 'dir/b.png', content: PNG },
  ];
  const reveal = (code: string, form: Readonly<Record<string, string>>): Promise<Response> =>
    fetch(`${bed.api.url}/${code}`, {
      ...ownForm(bed.api.url, form),
      headers: { ...BROWSER, ...ownPage(bed.api.url) },
    });

  it('shows the names and sizes before, and all files after', async () => {
    const code = await pasteOf(files, { burn: true });
    const before = await pageOf(`/${code}`);
    expect(before).toContain('<span><bdi>dir/b.png</bdi></span>');
    expect(before).toContain('Reveal the files and delete the paste');
    expect(before).not.toContain('a secret');
    const key = /name="key" value="([^"]+)"/.exec(before)![1]!;
    const revealed = await reveal(code, { key });
    expect(revealed.headers.get('content-security-policy')).toContain("img-src 'self' data:;");
    const parts = partsOf(await revealed.text());
    expect(parts[0]).toContain('<div id=f1-L1 data-n=1>a secret</div>');
    expect(parts[0]).not.toContain('data-raw');
    expect(parts[1]).toContain(`base64,${PNG.toString('base64')}"`);
    expect((await open(`/${code}`)).status).toBe(410);
  });
});
