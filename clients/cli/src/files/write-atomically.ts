import { randomBytes } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { access, open, realpath, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** New files get no more rights than this, less the umask. */
const ORDINARY = 0o666;
const RIGHTS = 0o777;

/** A name may have 255 bytes, and a character four. */
const MAX_NAME = 50;

/**
 * Writes a file under a temporary name beside it, and renames that file when it is complete: nobody ever sees
 * a half file. When `write` fails or is aborted, the temporary file is removed and the old file stays. The
 * new file has the rights of the old one.
 *
 * What exists and is no regular file, such as /dev/null or a named pipe, is written to directly: a rename
 * would replace the device.
 * @param mode the rights of the file; default: those of the old one
 * @param followsLink true: a symbolic link stays, and the file that the link names is written. For a path
 *   that the user has named: a rename over /dev/stdout would take it from all programs. Default: false, the
 *   link is replaced.
 */
export async function writeAtomically(
  path: string,
  write: (file: FileHandle) => Promise<void>,
  { mode, followsLink = false }: { mode?: number; followsLink?: boolean } = {},
): Promise<void> {
  const old = await findOld(path);
  if (old !== null && !old.isFile()) return await writeTo(await open(path, 'w'), write);
  const target = followsLink && old !== null ? await realpath(path) : path;
  const name = basename(target).slice(0, MAX_NAME);
  const temporary = join(dirname(target), `.${name}.${randomBytes(6).toString('hex')}.part`);
  try {
    const file = await open(temporary, 'wx', mode ?? ORDINARY);
    await writeTo(file, async () => {
      if (mode === undefined && old !== null) await file.chmod(old.mode & RIGHTS);
      await write(file);
      await file.sync();
    });
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/**
 * Before work that takes long: whether its result can be written to the path, or to the file that a link
 * there names.
 * @throws Error
 */
export async function assertWritable(path: string): Promise<void> {
  const old = await findOld(path);
  if (old === null) return await access(dirname(path), constants.W_OK);
  await access(old.isFile() ? dirname(await realpath(path)) : path, constants.W_OK);
}

async function writeTo(file: FileHandle, write: (file: FileHandle) => Promise<void>): Promise<void> {
  try {
    await write(file);
  } finally {
    await file.close();
  }
}

/** @returns null: nothing is there @throws Error for a directory */
async function findOld(path: string): Promise<Stats | null> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return null;
  });
  if (found?.isDirectory() === true) throw new Error(`${path} is a directory. Name a file.`);
  return found;
}
