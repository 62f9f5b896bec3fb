// Bundles the command line client into one file, in a package of its own that depends on nothing, and packs it:
// dist/package and dist/pasteflow.tgz. With a folder as its argument it makes the package there, and packs nothing.
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const folder = fileURLToPath(new URL('.', import.meta.url));
const output = process.argv[2] ?? join(folder, 'dist/package');
const bundle = join(output, 'pasteflow.mjs');

rmSync(output, { recursive: true, force: true });
mkdirSync(output, { recursive: true });

await build({
  absWorkingDir: folder,
  entryPoints: ['src/pasteflow-main.ts'],
  outfile: bundle,
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  conditions: ['source'],
  // commander is CommonJS and requires modules of Node.
  banner: {
    js: "#!/usr/bin/env node\nimport { createRequire as _createRequire } from 'node:module';\nconst require = _createRequire(import.meta.url);",
  },
  logLevel: 'warning',
});
chmodSync(bundle, 0o755);

const { version, description, license, repository } = JSON.parse(
  readFileSync(join(folder, 'package.json'), 'utf8'),
) as Record<string, unknown>;
const manifest = {
  name: 'pasteflow',
  version,
  description,
  license,
  repository, // only the release knows where it is
  type: 'module',
  bin: { pasteflow: 'pasteflow.mjs' },
  man: './pasteflow.1',
  engines: { node: '>=20' },
};
writeFileSync(join(output, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
copyFileSync(join(folder, 'pasteflow.1'), join(output, 'pasteflow.1'));
copyFileSync(join(folder, '../../LICENSE'), join(output, 'LICENSE'));
copyFileSync(join(folder, '../../docs/cli.md'), join(output, 'README.md'));

if (process.argv[2] === undefined) {
  const dist = join(folder, 'dist');
  execFileSync('npm', ['pack', '--silent', output, '--pack-destination', dist], { stdio: 'ignore' });
  renameSync(join(dist, `pasteflow-${String(version)}.tgz`), join(dist, 'pasteflow.tgz'));
}
