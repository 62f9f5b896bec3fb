import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { access, lstat, mkdir, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { fileNameProblems } from '@pasteflow/domain';

export interface NamedBytes {
  /** As its writer has named it: hostile. */
  readonly name: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

interface FolderOptions {
  /** Otherwise what the umask leaves. */
  readonly mode?: number;
  /** What to do about a name that can't be written. */
  readonly otherwise?: string;
}

/** A name may have 255 bytes, and a character four. */
const MAX_NAME = 50;

/** Before work that takes long: whether there is room for a new folder. @throws Error */
export async function assertNoFolder(path: string): Promise<void> {
  const target = resolve(path);
  const old = await lstat(target).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return null;
  });
  if (old !== null) throw new Error(`${path} exists already. Name a new folder: nothing is overwritten.`);
  await access(dirname(target), constants.W_OK);
}

/**
 * Writes files into a new folder, which gets its name when all of them are in it: a rename replaces nothing but an
 * empty folder. The names come from strangers. One that could lead out of the folder, or that not every file system can
 * keep, fails all.
 * @throws Error for such a name, and when something has the name of the folder
 */
export async function writeFolder(
  path: string,
  files: readonly NamedBytes[],
  signal: AbortSignal,
  { mode, otherwise }: FolderOptions = {},
): Promise<void> {
  const [problem] = fileNameProblems(files.map(({ name }) => name));
  if (problem !== undefined)
    throw new Error(
      `The name ${JSON.stringify(files[problem.index]?.name)} ${problem.message}. No file was written.${otherwise === undefined ? '' : ` ${otherwise}`}`,
    );
  await assertNoFolder(path);
  const target = resolve(path);
  const name = basename(target).slice(0, MAX_NAME);
  const temporary = join(dirname(target), `.${name}.${randomBytes(6).toString('hex')}.part`);
  await mkdir(temporary, { mode });
  try {
    for (const file of files) {
      signal.throwIfAborted();
      await writeNew(join(temporary, file.name), file.bytes);
    }
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    throw error;
  }
}

async function writeNew(path: string, bytes: Uint8Array): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const file = await open(path, 'wx');
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}
