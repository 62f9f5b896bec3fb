import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync, brotliDecompressSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { loadAssets } from '../src/assets.ts';

const assets = loadAssets();
const gzipped = (name: string): number => {
  const asset = assets.find(name);
  return (asset?.gzip ?? asset!.bytes).length;
};

/** A module and all that it imports when it starts, by the names in its text. */
function withImports(name: string, seen = new Set<string>()): ReadonlySet<string> {
  if (seen.has(name)) return seen;
  seen.add(name);
  const text = assets.find(name)!.bytes.toString();
  for (const [, imported] of text.matchAll(/(?:from|import)\s*"\.\/([\w.-]+\.js)"/g))
    withImports(imported!, seen);
  return seen;
}

/** With the module that every page has. */
const sizeOf = (...sources: readonly string[]): number => {
  const seen = new Set<string>();
  for (const source of ['site.js', ...sources]) withImports(assets.fileOf(source), seen);
  return [...seen].reduce((sum, name) => sum + gzipped(name), 0);
};

it('has a folder of its own: the build removes all other files there, also a compiled module', () => {
  expect(globSync(fileURLToPath(new URL('../src/assets/*', import.meta.url)))).toEqual([]);
});

describe('what a browser loads', () => {
  const lazy = (file: string): readonly string[] =>
    [
      ...assets
        .find(file)!
        .bytes.toString()
        .matchAll(/import\("\.\/([\w.-]+\.js)"\)/g),
    ].map(([, name]) => name!);
  /** Each parser has this property, which nothing else has. */
  const isOfGrammar = (name: string): boolean =>
    [...withImports(name)].some((each) => assets.find(each)!.bytes.includes('stoppedAt'));
  const sum = (names: Iterable<string>): number =>
    [...names].reduce((bytes, name) => bytes + gzipped(name), 0);

  // Colours of a terminal, the size of tabs and the buttons that share take 1 KB, and 0.2 KB the part of the address
  // behind # that stays while somebody signs in.
  it('is at most 17.75 KB of JavaScript for a paste, with the largest mode that any language needs', () => {
    const modes = lazy(assets.fileOf('worker.js')).filter((name) => !isOfGrammar(name));
    expect(modes.length).toBeGreaterThan(30);
    const largest = Math.max(...modes.map((name) => sum(withImports(name))));
    expect(sizeOf('paste.js', 'worker.js') + largest).toBeLessThanOrEqual(17.75 * 1024);
  });

  it('is at most 60 KB of JavaScript for a grammar, which only the worker loads', () => {
    const ofWorker = lazy(assets.fileOf('worker.js'));
    const reader = ofWorker.find((name) => name.startsWith('tree-'))!;
    const grammars = [...ofWorker, ...ofWorker.flatMap(lazy)].filter(isOfGrammar);
    expect(grammars.length).toBeGreaterThan(15);
    for (const name of grammars)
      expect(sum(new Set([...withImports(reader), ...withImports(name)]))).toBeLessThanOrEqual(60 * 1024);
    const others = ['site.js', 'paste.js', 'encrypted-paste.js', 'new-paste.js'].map(assets.fileOf);
    for (const name of others.flatMap((each) => [each, ...lazy(each)])) expect(isOfGrammar(name)).toBe(false);
  });

  // Footnotes, alerts, raw links and the ids of headings take 1.6 KB, and the names of languages and files 0.3 KB.
  it('is at most 33.5 KB more for a Markdown paste, which is rendered', () => {
    const lazy = (name: string, prefix: string): string =>
      new RegExp(String.raw`import\("\./(${prefix}-[\w.-]+\.js)"\)`).exec(
        assets.find(name)!.bytes.toString(),
      )![1]!;
    const views = lazy(assets.fileOf('paste.js'), 'views');
    const show = lazy(views, 'show');
    const first = withImports(assets.fileOf('paste.js'));
    const later = new Set([
      ...withImports(views),
      ...withImports(show),
      ...withImports(assets.fileOf('markdown-worker.js')),
    ]);
    const more = [...later].filter((name) => !first.has(name));
    expect(more).toContain(show);
    expect(more.reduce((sum, name) => sum + gzipped(name), 0)).toBeLessThanOrEqual(33.5 * 1024);
  });

  // What it shares with the module that shows several files is a file of its own, which costs 1.3 KB.
  // The link that skips the navigation keeps the key for 40 bytes.
  it('is at most 19.3 KB of JavaScript for an encrypted paste, without the mode of its language', () => {
    expect(sizeOf('encrypted-paste.js', 'worker.js')).toBeLessThanOrEqual(19.3 * 1024);
  });

  // Several files with names, languages and texts of their own take 2.1 KB, and the way to the form of a secret 0.6 KB.
  it('is at most 14.25 KB of JavaScript for the form and the page that follows', () => {
    expect(sizeOf('new-paste.js', 'created.js')).toBeLessThanOrEqual(14.25 * 1024);
  });

  it('is at most 11.5 KB of JavaScript for who is asked for a secret', () => {
    expect(sizeOf('request.js')).toBeLessThanOrEqual(11.5 * 1024);
  });

  it('has what wraps keys on the pages of requests only, and loads it when there is a key', () => {
    const hasKeys = (name: string): boolean =>
      [...withImports(name)].some((each) => assets.find(each)!.bytes.includes('for the ciphersuite'));
    const ofRequests = new Set(['request.js', 'my-requests.js', 'my-request.js'].map(assets.fileOf));
    const entries = ['site.js', 'new-paste.js', 'created.js', 'encrypted-paste.js', 'my-pastes.js'];
    for (const name of entries.map(assets.fileOf).flatMap((each) => [each, ...lazy(each)]))
      expect([name, hasKeys(name)]).toEqual([name, false]);
    for (const name of ofRequests) {
      expect([name, hasKeys(name)]).toEqual([name, false]);
      const later = lazy(name);
      expect([name, later.some(hasKeys)]).toEqual([name, true]);
      expect(sum(new Set(later.flatMap((each) => [...withImports(each)])))).toBeLessThanOrEqual(24 * 1024);
    }
  });

  it.each(['my-pastes.js', 'my-jobs.js', 'my-job.js', 'my-requests.js', 'my-request.js'])(
    'is at most 6 KB of JavaScript for a list: %s',
    (name) => {
      expect(sizeOf(name)).toBeLessThanOrEqual(6 * 1024);
    },
  );

  it('is at most 8 KB of styles', () => {
    expect(gzipped(assets.fileOf('page.css'))).toBeLessThanOrEqual(8 * 1024);
  });

  it('is at most 16 KB of styles inside of a page, which end with their element and name no other file', () => {
    const styles = assets.textOf('page.css');
    expect(Buffer.byteLength(styles)).toBeLessThanOrEqual(16 * 1024); // 4 KB compressed
    expect(styles).not.toMatch(/<|url\(|@import/);
  });
});

describe('the files', () => {
  it('have compressed copies of the same bytes', () => {
    const { bytes, gzip, brotli } = assets.find(assets.fileOf('page.css'))!;
    expect(gunzipSync(gzip!).equals(bytes)).toBe(true);
    expect(brotliDecompressSync(brotli!).equals(bytes)).toBe(true);
  });

  it('have a hash in their names, and nothing else is found', () => {
    expect(assets.fileOf('page.css')).toMatch(/^page-[A-Z0-9]{8}\.css$/);
    expect(assets.find('page.css')).toBeNull();
    expect(assets.find('../package.json')).toBeNull();
    expect(() => assets.fileOf('missing.js')).toThrow('no file for missing.js');
  });
});
