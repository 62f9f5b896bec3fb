import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { StartError } from '@pasteflow/runtime';

/** What is in the file; null when it isn't there. @throws StartError */
export function readKept(file: string): string | null {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw unusable(file, error);
  }
}

/** For its owner alone, and never half written; its folder has to be there. @throws StartError */
export function writeKept(file: string, token: string): void {
  const aside = `${file}.${process.pid}`;
  try {
    writeFileSync(aside, `${token}\n`, { mode: 0o600 });
    renameSync(aside, file);
  } catch (error) {
    throw unusable(file, error);
  }
}

function unusable(file: string, cause: unknown): StartError {
  return new StartError(`${file} can't be used to keep a token (${(cause as Error).message})`, { cause });
}
