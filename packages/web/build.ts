// Bundles the browser modules and the styles into dist/assets, with a hash in each name and compressed copies
// beside them. The bootstrap runs this when a source has changed; the image of the api runs it once.
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { build, type Plugin } from 'esbuild';
import type { AssetManifest } from './src/assets.ts';

const folder = fileURLToPath(new URL('.', import.meta.url));
const output = join(folder, 'dist/assets');

const sources = [
  'browser/site.ts',
  'browser/new-paste.ts',
  'browser/created.ts',
  'browser/paste.ts',
  'browser/files.ts',
  'browser/encrypted-paste.ts',
  'browser/pending-paste.ts',
  'browser/timeline.ts',
  'browser/diff.ts',
  'browser/my-pastes.ts',
  'browser/my-jobs.ts',
  'browser/my-job.ts',
  'browser/my-tokens.ts',
  'browser/my-webhook.ts',
  'browser/request.ts',
  'browser/my-requests.ts',
  'browser/my-request.ts',
  'browser/operations.ts',
  'browser/right-address.ts',
  'browser/arrival.ts',
  'browser/highlight/worker.ts',
  'browser/markdown/markdown-worker.ts',
  'styles/page.css',
  'styles/all.css',
  'styles/operations.css',
  'styles/markdown.css',
  'styles/icon.svg',
  'styles/touch-icon.png',
];

const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webmanifest': 'application/manifest+json',
};

/**
 * The modules of SQL and CSS build all their dialects when they are loaded. esbuild drops unused calls that
 * are marked as pure.
 */
const pureDialects: Plugin = {
  name: 'pure dialects',
  setup: (build) => {
    build.onLoad({ filter: /legacy-modes[/\\]mode[/\\](?:css|sql)\.js$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replaceAll(
        /(?<!function )\b(?:sql|set|mkCSS)\(/g,
        '/* @__PURE__ */ $&',
      ),
    }));
  },
};

/** Some grammars come with what an editor needs beside their parser. The pages have no editor. */
const withoutEditor: Plugin = {
  name: 'without editor',
  setup: (build) => {
    build.onResolve({ filter: /^@codemirror\/(?:autocomplete|language)$/ }, ({ path }) => ({
      path,
      namespace: 'no-editor',
      sideEffects: false,
    }));
    build.onLoad({ filter: /./, namespace: 'no-editor' }, () => ({
      contents: NO_EDITOR,
      resolveDir: folder,
    }));
  },
};

const NO_EDITOR = `
  import { NodeProp } from '@lezer/common';
  const nothing = () => null;
  export const LRLanguage = { define: (language) => language };
  export class LanguageSupport {}
  export const indentNodeProp = /* @__PURE__ */ new NodeProp(), foldNodeProp = /* @__PURE__ */ new NodeProp();
  export { nothing as completeFromList, nothing as continuedIndent, nothing as delimitedIndent, nothing as foldInside };
  export { nothing as ifNotIn, nothing as snippetCompletion, nothing as syntaxTree };`;

/** Bundles entry points together: what several of them import becomes a chunk of its own. */
function bundle(entryPoints: readonly string[]) {
  return build({
    absWorkingDir: folder,
    entryPoints: [...entryPoints],
    outdir: output,
    bundle: true,
    splitting: true,
    conditions: ['source'],
    format: 'esm',
    minify: true,
    target: 'esnext',
    loader: { '.svg': 'copy', '.png': 'copy' },
    plugins: [pureDialects, withoutEditor],
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    metafile: true,
    write: false,
    logLevel: 'warning',
  });
}

/** The modules of pastes and of forms, and the one of all pages, are larger when each module that two of them share is a chunk. */
const APART = [
  ['browser/paste.ts'],
  ['browser/encrypted-paste.ts'],
  ['browser/site.ts'],
  ['browser/request.ts', 'browser/my-requests.ts', 'browser/my-request.ts'],
];
const built = await Promise.all(
  [sources.filter((source) => !APART.flat().includes(source)), ...APART].map(bundle),
);
const outputFiles = [
  ...new Map(built.flatMap((each) => each.outputFiles).map((file) => [file.path, file])).values(),
];
const outputs = Object.assign(
  {},
  ...built.map((each) => each.metafile.outputs),
) as (typeof built)[0]['metafile']['outputs'];

const entries: Record<string, string> = {};
for (const [path, { entryPoint }] of Object.entries(outputs)) {
  if (entryPoint !== undefined && sources.includes(entryPoint))
    entries[basename(entryPoint).replace(/\.ts$/, '.js')] = basename(path);
}

/** For those who put the service on their home screen. Its addresses are relative to its own. */
const appManifest = Buffer.from(
  JSON.stringify({
    name: 'Pasteflow',
    start_url: '../',
    display: 'minimal-ui',
    background_color: '#f7f7f8',
    // Android lists the app among those that a text can be shared with. The form begins with the text.
    share_target: {
      action: '../',
      method: 'GET',
      params: { title: 'title', text: 'text', url: 'url' },
    },
    icons: [
      { src: entries['icon.svg'], sizes: 'any', type: 'image/svg+xml' },
      { src: entries['touch-icon.png'], sizes: '180x180', type: 'image/png' },
    ],
  }),
);
const appHash = createHash('sha256').update(appManifest).digest('hex').slice(0, 8).toUpperCase();
entries['app.webmanifest'] = `app-${appHash}.webmanifest`;

mkdirSync(output, { recursive: true });
const files: AssetManifest['files'] = [
  ...outputFiles,
  { path: entries['app.webmanifest'], contents: appManifest },
].map(({ path, contents }) => {
  const name = basename(path);
  const gzip = gzipSync(contents, { level: 9 });
  const compressed = gzip.length < contents.length;
  write(name, contents);
  if (compressed) {
    write(`${name}.gz`, gzip);
    write(`${name}.br`, brotliCompressSync(contents));
  }
  return { name, type: types[extname(name)] ?? 'application/octet-stream', compressed };
});
write('manifest.json', JSON.stringify({ entries, files } satisfies AssetManifest, null, 2));
removeOthers(files.flatMap(({ name }) => [name, `${name}.gz`, `${name}.br`]));

/** Renamed into place, because two builds may run at once. The same sources make the same files. */
function write(name: string, bytes: Uint8Array | string): void {
  const path = join(output, name);
  const unique = createHash('sha256').update(`${process.pid}${name}`).digest('hex').slice(0, 8);
  writeFileSync(`${path}.${unique}`, bytes);
  renameSync(`${path}.${unique}`, path);
}

/** Removes what earlier builds wrote. */
function removeOthers(kept: readonly string[]): void {
  const known = new Set([...kept, 'manifest.json', '.built']);
  for (const name of readdirSync(output)) {
    if (!known.has(name)) rmSync(join(output, name), { force: true });
  }
}
