import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const CACHE = fileURLToPath(new URL('../../../node_modules/.cache', import.meta.url));

/**
 * Installs a program from PyPI at the first call, in a virtual environment of its own (Python 3.10 or later
 * with venv).
 * @returns the folder of this version; the programs are in `venv/bin`
 */
export async function pythonPackage(name: string, version: string): Promise<string> {
  const folder = join(CACHE, `${name}-${version}`);
  const installed = join(folder, 'installed'); // written last: an installation that was broken off is made anew
  if (existsSync(installed)) return folder;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const venv = join(folder, 'venv');
  const commands = [
    ['python3', '-m', 'venv', venv],
    [join(venv, 'bin/pip'), 'install', '--quiet', '--disable-pip-version-check', `${name}==${version}`],
  ] as const;
  for (const [command, ...args] of commands) {
    const child = spawn(command, args, { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'] });
    const [code] = (await once(child, 'exit')) as [number | null];
    if (code !== 0) throw new Error(`${command} ${args.join(' ')} failed: see its messages above.`);
  }
  writeFileSync(installed, '');
  return folder;
}
