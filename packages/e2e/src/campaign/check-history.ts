import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../entries.ts';

/**
 * Builds the checker, a Go program, into a temporary folder, which `use` gets and which is then removed.
 * @throws Error when Go is missing or cannot build the checker
 */
export async function withChecker<T>(use: (check: (history: string) => boolean) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'pasteflow-checker-'));
  try {
    const program = join(folder, 'checker');
    const built = spawnSync('go', ['build', '-buildvcs=false', '-o', program, '.'], {
      cwd: join(ROOT, 'packages/e2e/checker'),
      stdio: 'inherit',
    });
    if (built.error !== undefined)
      throw new Error('--check needs Go 1.19 or later: apt-get install golang', { cause: built.error });
    if (built.status !== 0) throw new Error('go build could not build packages/e2e/checker');
    return await use((history) => spawnSync(program, [history], { stdio: 'inherit' }).status === 0);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
