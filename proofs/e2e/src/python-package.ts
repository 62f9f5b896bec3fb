import { join } from 'node:path';
import { installed } from './installed.ts';

/**
 * Installs a program from PyPI at the first call, in a virtual environment of its own (Python 3.10 or later
 * with venv).
 * @returns the folder of this version; the programs are in `venv/bin`
 */
export async function pythonPackage(name: string, version: string): Promise<string> {
  return await installed(`${name}-${version}`, (folder) => {
    const venv = join(folder, 'venv');
    const pip = join(venv, 'bin/pip');
    return [
      ['python3', '-m', 'venv', venv],
      [pip, 'install', '--quiet', '--disable-pip-version-check', `${name}==${version}`],
    ];
  });
}
