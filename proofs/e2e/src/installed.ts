import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { spawnProgram } from '@pasteflow/dev-stack/testing';

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
