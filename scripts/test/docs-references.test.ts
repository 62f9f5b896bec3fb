import { expect, it } from '@jest/globals';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const documents = globSync(['*.md', 'docs/**/*.md', '{packages,clients}/*/*.md', 'infra/*.md'], {
  cwd: root,
});

/**
 * A path from the root between backticks, such as `packages/domain/src/machines.ts` or
 * `services/api/src/app.ts`.
 */
const PATH =
  /`((?:packages|clients|services|proofs|examples|docs|infra|scripts|localstack|\.ci)\/[\w./-]*[\w/])`/g;
/** An excerpt, with the path of its file as the first line. It may be indented in another way. */
const EXCERPT = /^```ts\n\/\/ (\S+)\n(.*?)^```$/gms;
const LINK = /\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)/g;
const PROOF = /\bnpm run proof -- ([a-z][\w-]*)/g;
const SCRIPT = /\bnpm run (?:--silent )?([a-z][\w:-]*)/g;

const read = (path: string): string => readFileSync(join(root, path), 'utf8');

function matchesOf(
  pattern: RegExp,
): readonly { readonly document: string; readonly found: RegExpExecArray }[] {
  return documents.flatMap((document) =>
    [...read(document).matchAll(pattern)].map((found) => ({ document, found })),
  );
}

/** The anchors of a page's headings, as GitHub makes them. */
function anchorsOf(path: string): readonly string[] {
  return [...read(path).matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-'),
  );
}

/** A fresh clone has no `dist` folders, and the proofs can be left out of it. */
const mayBeMissing = (path: string): boolean =>
  path.split('/').includes('dist') || (path.startsWith('proofs/') && !existsSync(join(root, 'proofs')));

it('names only files and folders that exist', () => {
  const paths = matchesOf(PATH).map(({ document, found: [, path = ''] }) => ({ document, path }));
  expect(paths.length).toBeGreaterThan(30);
  expect(paths.filter(({ path }) => !mayBeMissing(path) && !existsSync(join(root, path)))).toEqual([]);
});

it('links only to pages and headings that exist', () => {
  const links = matchesOf(LINK).map(({ document, found: [, path = '', anchor] }) => ({
    document,
    target: path === '' ? document : join(dirname(document), path),
    anchor,
  }));
  expect(links.length).toBeGreaterThan(50);
  expect(links.filter(({ target }) => !existsSync(join(root, target)))).toEqual([]);
  const broken = links.filter(
    ({ target, anchor }) => anchor !== undefined && !anchorsOf(target).includes(anchor),
  );
  expect(broken).toEqual([]);
});

const flat = (text: string): string => text.replace(/^ +/gm, '');

it('quotes files as they are', () => {
  const excerpts = matchesOf(EXCERPT).map(({ found: [, path = '', text = ''] }) => ({ path, text }));
  expect(excerpts.length).toBeGreaterThan(5);
  expect(excerpts.filter(({ path, text }) => !flat(read(path)).includes(flat(text)))).toEqual([]);
});

it('names only npm scripts that exist', () => {
  const scripts = ['package.json', 'infra/package.json'].flatMap((path) =>
    Object.keys((JSON.parse(read(path)) as { scripts: Record<string, string> }).scripts),
  );
  const named = matchesOf(SCRIPT).map(({ document, found: [, script = ''] }) => ({ document, script }));
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter(({ script }) => !scripts.includes(script))).toEqual([]);
});

it('names only proofs that exist', () => {
  const proofs = [...read('scripts/proof').matchAll(/^ {2}([a-z][\w-]*)\)/gm)].map(([, name]) => name);
  const named = matchesOf(PROOF).map(({ document, found: [, proof = ''] }) => ({ document, proof }));
  expect(named.length).toBeGreaterThan(3);
  expect(named.filter(({ proof }) => !proofs.includes(proof))).toEqual([]);
});
