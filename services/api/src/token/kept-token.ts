import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { StartError } from '@pasteflow/runtime';

/** @returns null when there is no such file. @throws StartError when the file can't be read */
export function readKeptToken(file: string): string | null {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw unusable(file, error);
  }
}

/** Replaces the file atomically, readable by its owner alone. The folder must exist. @throws StartError */
export function writeKeptToken(file: string, token: string): void {
  const temporary = `${file}.${process.pid}`;
  try {
    writeFileSync(temporary, `${token}\n`, { mode: 0o600 });
    renameSync(temporary, file);
  } catch (error) {
    throw unusable(file, error);
  }
}

function unusable(file: string, cause: unknown): StartError {
  return new StartError(`${file} can't be used to keep a token (${(cause as Error).message})`, { cause });
}
