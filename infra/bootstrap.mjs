// Installs infra/node_modules from infra/pnpm-lock.yaml, and the Python environment of test/requirements.txt
// in node_modules/.checks. infra/ uses Node, jest and TypeScript of the root, which are installed first.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const STAMP = 'node_modules/.bootstrap';
const CHECKS = 'node_modules/.checks';

process.chdir(fileURLToPath(new URL('.', import.meta.url)));
run(process.execPath, ['../scripts/bootstrap.mjs']);
const { packageManager } = JSON.parse(readFileSync('package.json', 'utf8'));
const hash = createHash('sha256').update(packageManager);
for (const file of ['package.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml', 'test/requirements.txt'])
  hash.update(readFileSync(file));
const wanted = hash.digest('hex');
if (!existsSync(STAMP) || readFileSync(STAMP, 'utf8') !== wanted) {
  process.stdout.write(`installing what infra/ needs with ${packageManager} …\n`);
  run('npx', ['--yes', packageManager, 'install', '--frozen-lockfile']);
  mkdirSync('node_modules', { recursive: true });
  run('python3', ['-m', 'venv', '--clear', CHECKS]);
  const hashed = ['--require-hashes', '--only-binary', ':all:', '--requirement', 'test/requirements.txt'];
  run(`${CHECKS}/bin/pip`, ['install', '--quiet', '--disable-pip-version-check', ...hashed]);
  writeFileSync(STAMP, wanted);
}

function run(command, args) {
  // npm describes the running script in the environment. pnpm would read those variables as its own.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^npm_(lifecycle|package)_/.test(name)),
  );
  const { status } = spawnSync(command, args, { stdio: 'inherit', env });
  if (status !== 0) process.exit(status ?? 1);
}
