import { randomBytes } from 'node:crypto';
import { open, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** New files get no more rights than this, less the umask. */
const ORDINARY = 0o666;

/**
 * Writes a file under a temporary name beside it, and renames that file when it is complete: nobody ever sees a half file. When `write`
 * fails or is aborted, the temporary file is removed and the old file stays.
 *
 * What exists and is no regular file, such as /dev/null or a named pipe, is written to directly: a rename would replace the device.
 */
export async function writeAtomically(
  path: string,
  write: (file: FileHandle) => Promise<void>,
  { mode = ORDINARY }: { mode?: number } = {},
): Promise<void> {
  if (await isSpecial(path)) return await writeTo(await open(path, 'w'), write);
  const temporary = join(
    dirname(path),
    `.${basename(path).slice(0, 100)}.${randomBytes(6).toString('hex')}.part`,
  );
  try {
    const file = await open(temporary, 'wx', mode);
    await writeTo(file, async () => {
      await write(file);
      await file.sync();
    });
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

async function writeTo(file: FileHandle, write: (file: FileHandle) => Promise<void>): Promise<void> {
  try {
    await write(file);
  } finally {
    await file.close();
  }
}

/** @throws Error for a directory */
async function isSpecial(path: string): Promise<boolean> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return null;
  });
  if (found?.isDirectory() === true) throw new Error(`${path} is a directory. Name a file.`);
  return found !== null && !found.isFile();
}
