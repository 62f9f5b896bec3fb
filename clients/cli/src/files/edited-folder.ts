import { isUtf8 } from 'node:buffer';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileNameProblems, MAX_FILES, normalFileName } from '@pasteflow/domain';
import { MAX_BUFFERED_BYTES } from './content-source.ts';
import { type NamedBytes, writeFolder } from './write-folder.ts';

/** A file of the paste that is edited. */
export interface EditedFile extends NamedBytes {
  /** The language that its writer has chosen. */
  readonly syntax: string | null;
}

export interface FileChange {
  readonly kind: 'changed' | 'renamed' | 'added' | 'removed';
  readonly name: string;
  /** The new name of a file that was renamed. */
  readonly to?: string;
}

/** Writes the files into a new folder. @returns the paths of those that are text */
export async function unpackFiles(
  folder: string,
  files: readonly NamedBytes[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  await writeFolder(folder, files, signal);
  return files.filter(({ bytes }) => isUtf8(bytes)).map(({ name }) => join(folder, name));
}

/**
 * The files that are in a folder after a person has edited it, and how they differ from those before. What stays and
 * what was renamed keeps its place and its language; what is new follows, by name. As for git, a file whose bytes have
 * another name is renamed.
 * @throws Error for what a paste can't have
 */
export async function readEdited(
  folder: string,
  before: readonly EditedFile[],
  signal: AbortSignal,
): Promise<{ readonly files: readonly EditedFile[]; readonly changes: readonly FileChange[] }> {
  const found = new Map<string, NamedBytes>();
  const known = new Set(before.map(({ name }) => name));
  for await (const file of filesBelow(folder, known, signal)) found.set(file.name, file);
  const kept = new Set(before.map(({ name }) => name).filter((name) => found.has(name)));
  const added = new Map(
    [...found].filter(([name]) => !kept.has(name)).toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
  const changes: FileChange[] = [];
  const files: EditedFile[] = [];
  for (const { name, bytes, syntax } of before) {
    const same = found.get(name);
    const moved =
      same === undefined && bytes.length > 0
        ? [...added.values()].find((file) => isSame(file.bytes, bytes))
        : undefined;
    const now = same ?? moved;
    if (now !== undefined) files.push({ ...now, syntax });
    if (moved !== undefined) added.delete(moved.name);
    if (now === undefined) changes.push({ kind: 'removed', name });
    else if (moved !== undefined) changes.push({ kind: 'renamed', name, to: moved.name });
    else if (!isSame(now.bytes, bytes)) changes.push({ kind: 'changed', name });
  }
  for (const file of added.values()) {
    files.push({ ...file, syntax: null });
    changes.push({ kind: 'added', name: file.name });
  }
  assertPossible(files);
  return { files, changes };
}

const isSame = (one: Uint8Array, other: Uint8Array): boolean => Buffer.compare(one, other) === 0;

/** @throws Error */
function assertPossible(files: readonly EditedFile[]): void {
  if (files.length === 0)
    throw new Error('All files were removed, and no paste was made. To delete the paste: pasteflow rm.');
  if (files.length > MAX_FILES)
    throw new Error(`There are ${files.length} files. A paste has at most ${MAX_FILES}.`);
  const [problem] = fileNameProblems(files.map(({ name }) => name));
  if (problem !== undefined)
    throw new Error(`The name ${JSON.stringify(files[problem.index]?.name)} ${problem.message}.`);
}

/** What editors and macOS leave beside the files: backups, swap files, locks, views of folders. */
const LEFT_BESIDE = /(~|^\..*\.sw[a-z]|^#.*#|^\.#.*|^\.DS_Store)$/;

/** @param known names that are files of the paste, whatever they look like */
async function* filesBelow(
  root: string,
  known: ReadonlySet<string>,
  signal: AbortSignal,
): AsyncGenerator<NamedBytes> {
  let left = MAX_BUFFERED_BYTES;
  const folders = [''];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop())
    for (const entry of await readdir(join(root, folder), { withFileTypes: true })) {
      signal.throwIfAborted();
      const path = `${folder}${entry.name}`;
      const name = normalFileName(path);
      if (LEFT_BESIDE.test(entry.name) && !known.has(name)) continue;
      if (entry.isDirectory()) folders.push(`${path}/`);
      else if (!entry.isFile()) throw new Error(`${name} is neither a file nor a folder. Remove it.`);
      else {
        const bytes = new Uint8Array(await readFile(join(root, path)));
        left -= bytes.length;
        if (left < 0) throw new Error('The files have more than 256 MiB.');
        yield { name, bytes };
      }
    }
}
