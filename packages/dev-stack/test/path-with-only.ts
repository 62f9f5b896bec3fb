import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** A PATH with only these programs, as on a machine without the others. */
export function pathWithOnly(dir: string, programs: string[]): string {
  mkdirSync(dir, { recursive: true });
  const folders = (process.env.PATH ?? '').split(delimiter);
  for (const program of programs) {
    const found = folders.map((folder) => join(folder, program)).find((path) => existsSync(path));
    if (found !== undefined) symlinkSync(found, join(dir, program));
  }
  return dir;
}
