// Bundles the entries of service-bundles.ts. A start from a bundle loads about ten files instead of a thousand, and takes
// 0.3 s of CPU time instead of 0.8 s.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { REPOSITORY } from '../stack-config.ts';
import { cachedFolder } from './cached-folder.ts';
import { BUNDLED_ENTRIES, BUNDLES } from './service-bundles.ts';

/** Sources find their files by import.meta. In a bundle it gets the value that it has in the source. */
const importMeta: Plugin = {
  name: 'import.meta',
  setup: (bundler) => {
    bundler.onLoad({ filter: /[/\\]src[/\\].*\.ts$/ }, ({ path }) => {
      const source = readFileSync(path, 'utf8');
      const asUrl = (file: string): string => JSON.stringify(pathToFileURL(file).href);
      const contents = source
        .replaceAll('import.meta.url', asUrl(path))
        .replaceAll(/import\.meta\.resolve\('([^']+)'\)/g, (_, name: string) =>
          asUrl(createRequire(path).resolve(name)),
        );
      return { contents, loader: 'ts' };
    });
  },
};

async function bundleServices(outdir: string): Promise<void> {
  await build({
    absWorkingDir: REPOSITORY,
    entryPoints: BUNDLED_ENTRIES,
    outdir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true, // what two services share is bundled and compiled once
    platform: 'node',
    target: 'node24',
    format: 'esm',
    conditions: ['source'],
    keepNames: true, // logs contain the names of errors
    minifyWhitespace: true, // Node measures every line of a file that has a source map
    sourcemap: true,
    sourcesContent: false,
    // Dependencies in CommonJS require modules of Node.
    banner: {
      js: "import { createRequire as _createRequire } from 'node:module';\nconst require = _createRequire(import.meta.url);",
    },
    plugins: [importMeta],
    logLevel: 'warning',
  });
}

const [key = ''] = process.argv.slice(2);
await cachedFolder(BUNDLES, key, bundleServices);
