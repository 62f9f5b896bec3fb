import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { ROOT } from '../entries.ts';

/**
 * Judges a history with the checker, a Go program.
 * @returns whether each model explains all operations
 * @throws Error when Go is missing
 */
export function isLinearizable(history: string): boolean {
  const { status, error } = spawnSync('go', ['run', '.', resolve(history)], {
    cwd: join(ROOT, 'proofs/checker'),
    stdio: 'inherit',
  });
  if (error !== undefined)
    throw new Error('--check needs Go 1.19 or later: apt-get install golang-go', { cause: error });
  return status === 0;
}
