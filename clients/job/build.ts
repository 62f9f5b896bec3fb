// Compiles the package @pasteflow/job, and makes it with the zod of this repository inside, so that it depends
// on nothing, and packs it: dist/job.tgz. With a folder as its argument it makes the package there, and packs nothing.
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  globSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('.', import.meta.url));
const dist = join(folder, 'dist');
const output = process.argv[2] ?? join(dist, 'package');
const zod = dirname(fileURLToPath(import.meta.resolve('zod')));

execFileSync(join(folder, '../../node_modules/.bin/tsc'), ['--build', folder], { stdio: 'inherit' });
rmSync(output, { recursive: true, force: true });
mkdirSync(output, { recursive: true });

for (const file of globSync('*.{js,d.ts}', { cwd: dist })) {
  const text = readFileSync(join(dist, file), 'utf8')
    .replaceAll(/from ["']zod["']/g, "from './zod/index.js'")
    .replaceAll(/(from ["']\.\/[\w-]+)\.ts(["'])/g, '$1.js$2')
    .replaceAll(/^\/\/# sourceMappingURL=.*\n?/gm, '');
  writeFileSync(join(output, file), text);
}
const ofZod = ['index.js', 'index.d.ts', 'LICENSE', 'v4/{classic,core,locales}/**/*.{js,d.ts}'];
for (const file of globSync(ofZod, { cwd: zod })) cpSync(join(zod, file), join(output, 'zod', file));

const { name, version, description, license, repository, type } = JSON.parse(
  readFileSync(join(folder, 'package.json'), 'utf8'),
) as Record<string, unknown>;
const exported = (file: string) => ({ types: `./${file}.d.ts`, default: `./${file}.js` });
const manifest = {
  name,
  version,
  description,
  license,
  repository, // only the release knows where it is
  type,
  exports: { '.': exported('index'), './testing': exported('testing') },
  engines: { node: '>=24' }, // that of the services
};
writeFileSync(join(output, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
copyFileSync(join(folder, '../../LICENSE'), join(output, 'LICENSE'));
copyFileSync(join(folder, 'README.md'), join(output, 'README.md'));

if (process.argv[2] === undefined) {
  execFileSync('npm', ['pack', '--silent', output, '--pack-destination', dist], { stdio: 'ignore' });
  renameSync(join(dist, `pasteflow-job-${String(version)}.tgz`), join(dist, 'job.tgz'));
  rmSync(output, { recursive: true }); // Jest would find a second package of this name
}
