import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseEnv } from 'node:util';
import type { Environment } from './stack-config.ts';

/**
 * `stack.env` in the data folder, which a shell or `node --env-file` can read. It exists while the embedded
 * stack runs.
 */
export function stackFileIn(dataDir: string): string {
  return join(dataDir, 'stack.env');
}

/**
 * Only its owner can read the file: it has the database's password. No value needs quotes: they are URLs,
 * names and numbers.
 */
export function writeStackFile(file: string, environment: Readonly<Record<string, string>>): void {
  const lines = Object.entries(environment).map(([name, value]) => `${name}=${value}\n`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, lines.join(''), { mode: 0o600 });
}

/** @returns null when there is no such file, or it can't be read: either way its stack can't be used */
export function readStackFile(file: string): Environment | null {
  try {
    return parseEnv(readFileSync(file, 'utf8'));
  } catch {
    return null;
  }
}

export function removeStackFile(file: string): void {
  rmSync(file, { force: true });
}
