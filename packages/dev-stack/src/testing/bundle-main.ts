// Bundles the entries of service-bundles.ts. A process of its own, because a test starts its services by a
// synchronous call, and the plugins of esbuild are asynchronous.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { REPOSITORY } from '../stack-config.ts';
import { cachedFolder } from '../folder-lock.ts';
import { BUNDLED_ENTRIES, BUNDLES } from './service-bundles.ts';

/** Sources find their files by import.meta. In a bundle it gets the value that it has in the source. */
const originalImportMeta: Plugin = {
  name: 'original import.meta',
  setup: (bundler) => {
    bundler.onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const asUrl = (file: string): string => JSON.stringify(pathToFileURL(file).href);
      const contents = readFileSync(path, 'utf8')
        .replaceAll('import.meta.url', asUrl(path))
        .replaceAll(/import\.meta\.resolve\('([^']+)'\)/g, (_, name: string) =>
          asUrl(createRequire(path).resolve(name)),
        );
      return { contents, loader: 'ts' };
    });
  },
};

const [key = ''] = process.argv.slice(2);
await cachedFolder(BUNDLES, key, async (outdir) => {
  await build({
    absWorkingDir: REPOSITORY,
    entryPoints: BUNDLED_ENTRIES,
    outdir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    conditions: ['source'],
    keepNames: true, // logs contain the names of errors
    minifyWhitespace: true, // fewer bytes to read at each start
    // Dependencies in CommonJS require Node's modules.
    banner: {
      js: "import { createRequire as requireFor } from 'node:module'; const require = requireFor(import.meta.url);",
    },
    plugins: [originalImportMeta],
    logLevel: 'warning',
  });
});
