import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { spawnProgram } from '@pasteflow/dev-stack/testing';

interface Ended {
  readonly code: number;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
}

/**
 * Runs the curl of this machine with `input` on its standard input. Rejects when curl is missing: `apt-get
 * install curl`.
 */
export async function curl(args: readonly string[], input: Uint8Array = new Uint8Array()): Promise<Ended> {
  return await run('curl', ['--silent', '--show-error', ...args], input);
}

/**
 * Unpacks a zip with this machine's unzip. Rejects with the program's output when it fails or warns, and when
 * it is missing: `apt-get install unzip`.
 */
export async function unzip(file: string, folder: string): Promise<void> {
  const { code, stderr } = await run('unzip', ['-q', file, '-d', folder]);
  if (code !== 0 || stderr.length > 0) throw new Error(`unzip ended with ${code}: ${stderr.toString()}`);
}

function run(command: string, args: readonly string[], input?: Uint8Array): Promise<Ended> {
  // Without a UTF-8 locale, unzip changes the names of files and warns about them.
  // oxlint-disable-next-line node/no-process-env -- the programs are found by PATH
  const env = { PATH: process.env.PATH, LC_ALL: 'C.UTF-8' };
  return new Promise((resolve, reject) => {
    const options = { env, encoding: 'buffer', maxBuffer: Infinity } as const;
    const child = execFile(command, args, options, (error, stdout, stderr) => {
      const code = error === null ? 0 : error.code;
      if (typeof code === 'number') resolve({ code, stdout, stderr });
      else reject(new Error(`${command} could not be run`, { cause: error }));
    });
    child.stdin?.on('error', () => {}); // the program may end before it has read all of its input
    child.stdin?.end(input);
  });
}

const CACHE = fileURLToPath(new URL('../../../node_modules/.cache', import.meta.url));
/** A program that is compiled takes minutes. */
const TIME_LIMIT_MS = 30 * 60_000;

type Command = readonly [program: string, ...args: string[]];

/**
 * Installs a program that is no dependency of this project, at the first call, in a folder of its own.
 * @param name with the version: another version gets another folder
 * @returns the folder
 */
export async function installed(
  name: string,
  commandsIn: (folder: string) => readonly Command[],
): Promise<string> {
  const folder = join(CACHE, name);
  const stamp = join(folder, 'installed'); // written last: an installation that was broken off is made anew
  if (existsSync(stamp)) return folder;
  rmSync(folder, { recursive: true, force: true });
  const tmp = join(folder, 'tmp'); // what a killed compiler leaves is removed with the folder
  mkdirSync(tmp, { recursive: true });
  // oxlint-disable-next-line node/no-process-env -- npm, cargo, go and pip find their caches and proxies there
  const options = { cwd: folder, env: { ...process.env, TMPDIR: tmp } };
  for (const command of commandsIn(folder)) {
    const child = spawnProgram(command, options);
    const timer = setTimeout(() => child.kill('SIGKILL'), TIME_LIMIT_MS);
    const { code, signal } = await child.exited.finally(() => clearTimeout(timer));
    if (code !== 0)
      throw new Error(
        `${command.join(' ')} ended with ${code ?? signal}: ${child.stderr.slice(-5).join('\n')}`,
      );
  }
  writeFileSync(stamp, '');
  return folder;
}

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
