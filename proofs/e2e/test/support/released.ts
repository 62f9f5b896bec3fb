import { execFile, execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../../src/index.ts';

const execute = promisify(execFile);

/** The last tag of a release before the current commit. Without one, HEAD. */
export function lastRelease(): string {
  const options = ['--tags', '--abbrev=0', '--match', 'v[0-9]*', 'HEAD^'];
  try {
    return execFileSync('git', ['describe', ...options], {
      cwd: ROOT,
      encoding: 'utf8',
      stdio: 'pipe',
    }).trim();
  } catch {
    return 'HEAD';
  }
}

/** A commit in a folder of its own, with its dependencies installed. */
export async function checkOut(commit: string): Promise<{ folder: string; remove: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'pasteflow-released-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    await execute(
      'sh',
      [
        '-c',
        `git archive --output "$1/archive.tar" "$2" && tar -xf "$1/archive.tar" -C "$1"`,
        'sh',
        folder,
        commit,
      ],
      { cwd: ROOT },
    );
    await execute(process.execPath, [join(folder, 'scripts/bootstrap.mjs')]);
    return { folder, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}
