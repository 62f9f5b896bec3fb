import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { apiDocument } from '../api-document.ts';
import { apiReference } from '../site/api-reference.ts';
import { deadLinks } from '../site/dead-links.ts';
import { stage } from '../site/stage.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
let work: string;
beforeAll(() => {
  work = mkdtempSync(join(tmpdir(), 'pasteflow-site-'));
});
afterAll(() => rmSync(work, { recursive: true, force: true }));

function write(folder: string, files: Readonly<Record<string, string>>): string {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(work, folder, dirname(path)), { recursive: true });
    writeFileSync(join(work, folder, path), text);
  }
  return join(work, folder);
}

describe('the pages', () => {
  const repository = { url: 'https://github.com/someone/pasteflow', ref: 'v1.2.3' };

  it('are the documents, whose links out of docs/ lead to the repository', () => {
    const folder = write('checkout', {
      'docs/README.md': '[One](one.md#part), [decisions](adr/README.md), [elsewhere](https://example.org/a)',
      'docs/one.md':
        '[rules](../infra/rules.yml#L3) and [code](../infra), ![picture](images/a.png), [here](#part)',
      'docs/adr/README.md': '[up](../one.md), [index](../README.md), [start](../../README.md#quick-start)',
      'infra/rules.yml': '',
      'README.md': '',
    });
    const pages = join(work, 'pages');
    write('pages', { 'old.md': 'of an earlier build' });
    stage(folder, pages, repository);
    const staged = globSync('**/*.md', { cwd: pages }).sort();
    expect(Object.fromEntries(staged.map((path) => [path, readFileSync(join(pages, path), 'utf8')]))).toEqual(
      {
        'index.md': '[One](one.md#part), [decisions](adr/index.md), [elsewhere](https://example.org/a)',
        'one.md':
          '[rules](https://github.com/someone/pasteflow/blob/v1.2.3/infra/rules.yml#L3) and ' +
          '[code](https://github.com/someone/pasteflow/tree/v1.2.3/infra), ![picture](images/a.png), [here](#part)',
        'adr/index.md':
          '[up](../one.md), [index](../index.md), [start](https://github.com/someone/pasteflow/blob/v1.2.3/README.md#quick-start)',
      },
    );
  });

  it('are all in the table of contents', () => {
    const contents = readFileSync(join(root, 'docs/README.md'), 'utf8');
    const listed = [...contents.matchAll(/^- \[.+?\]\((.+?)\)/gm)].map(([, path]) => path);
    const pages = globSync('*.md', { cwd: join(root, 'docs') }).filter((path) => path !== 'README.md');
    expect(new Set(listed)).toEqual(new Set([...pages, 'adr/README.md']));
  });
});

describe('deadLinks', () => {
  const good = {
    'index.html': '<a href="/base/one#part">1</a> <a href="./adr/">2</a> <img src="/base/assets/a.png">',
    'one.html': '<h2 id="part"></h2> <a href="#part">1</a> <a href="https://example.org/">2</a>',
    'adr/index.html': '<a href="../one.html">1</a> <a href="/base/">2</a>',
    'assets/a.png': '',
  };

  it('finds none in pages whose links lead somewhere', () => {
    expect(deadLinks(write('good', good), '/base/')).toEqual([]);
  });

  it.each([
    ['a page that is missing', '<a href="/base/two">'],
    ['a page that is missing beside it', '<a class="x" href="./two.html">'],
    ['a heading that is missing', '<a href="/base/one#other">'],
    ['a heading of the page itself', '<a href="#other">'],
    ['a page outside of the folder', '<a href="/one">'],
    ['a picture that is missing', '<img alt="" src="/base/assets/b.png">'],
    ['a script of another host', '<script src="https://cdn.example.org/a.js"></script>'],
    ['a style of another host', '<link rel="stylesheet" href="//cdn.example.org/a.css">'],
  ])('finds %s', (what, html) => {
    const reference = /(?:href|src)="(.*?)"/.exec(html)?.[1];
    const site = write(what, { ...good, 'adr/bad.html': html });
    expect(deadLinks(site, '/base/')).toEqual([`adr/bad.html: ${reference}`]);
  });
});

describe('the reference of the API', () => {
  const document = apiDocument();
  const markdown = apiReference(document);

  it('has each operation, parameter and schema of the document', () => {
    const operations = Object.entries(document.paths ?? {}).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `### ${method.toUpperCase()} ${path}`),
    );
    expect(operations.length).toBeGreaterThan(50);
    const headings = markdown
      .split('\n')
      .filter((line) => line.startsWith('### '))
      .map((line) =>
        line
          .replace(/ \{#.*$/, '')
          .replaceAll('&#123;', '{')
          .replaceAll('\\_', '_'),
      );
    expect(headings.sort()).toEqual(
      [...operations, ...Object.keys(document.components?.schemas ?? {}).map((name) => `### ${name}`)].sort(),
    );
    expect(markdown).toContain('| `Idempotency-Key` | header | string | Makes the request safe to repeat');
  });

  it('names the bounds, the answers and the fields in fields', () => {
    expect(markdown).toContain('| `title` | query | string, at most 200 characters | One line of text. |');
    expect(markdown).toMatch(/^\| 201 \| `application\/json` \[CreatedPaste\]\(#schema-createdpaste\)/m);
    expect(markdown).toContain('| `executions[].attempt` | integer |');
  });

  it('has anchors that differ, and links to each that it names', () => {
    const anchors = [...markdown.matchAll(/\{#(.+)\}$/gm)].map(([, anchor]) => anchor);
    expect(new Set(anchors).size).toBe(anchors.length);
    const links = [...markdown.matchAll(/\]\(#(.+?)\)/g)].map(([, anchor]) => anchor);
    expect(links.length).toBeGreaterThan(50);
    expect(links.filter((link) => !anchors.includes(link))).toEqual([]);
  });

  it('shows words as they are, which are no HTML and nothing to compute', () => {
    const info = { title: 'Any', version: '1', description: 'a <b> {{ c }} *d* `<e_f>`' };
    expect(apiReference({ openapi: '3.1.0', info })).toContain(
      String.raw`a &lt;b> &#123;&#123; c }} \*d\* ${'`<e_f>`'}`,
    );
  });
});
