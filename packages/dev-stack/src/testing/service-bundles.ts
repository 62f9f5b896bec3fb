import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sourceCommand } from '../child-command.ts';
import { REPOSITORY } from '../stack-config.ts';

/**
 * The entries that bundle-main.ts bundles, by the names of their bundles. Tests start these entries some 200
 * times.
 */
export const BUNDLED_ENTRIES: Readonly<Record<string, string>> = {
  api: 'services/api/src/main.ts',
  token: 'services/api/src/token-main.ts',
  'upload-worker': 'services/upload-worker/src/main.ts',
  janitor: 'services/janitor/src/main.ts',
  ops: 'services/janitor/src/ops-main.ts',
  migrate: 'packages/postgres/src/migrate-main.ts',
  'hanging-worker': 'services/upload-worker/test/fixtures/worker.ts',
  'email-worker': 'examples/pattern/src/worker-main.ts',
};

/** Two hours are longer than any run of tests. Each change of a source makes a new folder of 26 MB. */
export const BUNDLES = { path: join(REPOSITORY, 'node_modules/.cache/service-bundles'), keptMs: 7_200_000 };

/** Every file that can change a bundle: the sources, and the versions and exports of what they import. */
const SOURCES = [
  '{packages,clients,services,examples}/*/src/**/*.ts',
  'services/*/test/fixtures/*.ts',
  '{packages,clients,services,examples}/*/package.json',
  'pnpm-lock.yaml',
  'patches/*',
];

/** The key is computed once in each test file: reading the sources takes 20 ms. */
let key: string | undefined;

/**
 * Returns the bundle of an entry, or undefined for an entry that has none. The first call after a change of
 * the sources makes the bundles, which takes a second or two.
 */
export function bundleOf(entry: string): string | undefined {
  const path = relative(REPOSITORY, entry);
  const name = Object.keys(BUNDLED_ENTRIES).find((each) => BUNDLED_ENTRIES[each] === path);
  if (name === undefined) return undefined;
  key ??= keyOfBundles(REPOSITORY);
  const folder = join(BUNDLES.path, key);
  if (!existsSync(folder)) makeBundles(key);
  return join(folder, `${name}.mjs`);
}

/** With the folder, which the bundles name: a copy of the sources may share the cache, and is removed earlier. */
export function keyOfBundles(repository: string): string {
  const hash = createHash('sha256').update(process.version).update(repository);
  for (const path of globSync(SOURCES, { cwd: repository }).sort())
    hash.update(path).update(readFileSync(join(repository, path)));
  return hash.digest('hex').slice(0, 32);
}

function makeBundles(folder: string): void {
  const main = fileURLToPath(new URL('bundle-main.ts', import.meta.url));
  const [command, ...args] = sourceCommand(main, [folder], 'KILL');
  const { status, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`The services could not be bundled: ${stderr}`);
}
