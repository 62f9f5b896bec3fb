// Installs a folder that is no part of the workspace, such as infra/, from its own pnpm-lock.yaml. It uses Node,
// jest and TypeScript of the root, which are installed first.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const STAMP = 'node_modules/.bootstrap';

/**
 * @param folder from the root, which becomes the current folder
 * @param files what the installation depends on beside the lockfile
 * @param more what else to install, after pnpm
 */
export function installApart(folder, files = [], more = () => {}) {
  const root = fileURLToPath(new URL('..', import.meta.url));
  run(process.execPath, [join(root, 'scripts/bootstrap.mjs')]);
  process.chdir(join(root, folder));
  const { packageManager } = JSON.parse(readFileSync('package.json', 'utf8'));
  const hash = createHash('sha256').update(packageManager);
  for (const file of ['package.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml', ...files])
    hash.update(readFileSync(file));
  const wanted = hash.digest('hex');
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === wanted) return;
  process.stdout.write(`installing what ${folder}/ needs with ${packageManager} …\n`);
  run('npx', ['--yes', packageManager, 'install', '--frozen-lockfile']);
  mkdirSync('node_modules', { recursive: true });
  more();
  writeFileSync(STAMP, wanted);
}

export function run(command, args) {
  // npm describes the running script in the environment. pnpm would read those variables as its own.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^npm_(lifecycle|package)_/.test(name)),
  );
  const { status } = spawnSync(command, args, { stdio: 'inherit', env });
  if (status !== 0) process.exit(status ?? 1);
}
