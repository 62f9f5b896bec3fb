import { basename, isAbsolute, relative, sep } from 'node:path';
import type { Readable } from 'node:stream';
import type { Bytes, Content } from '@pasteflow/client';
import { fileNameProblems, MAX_FILES, normalFileName, pasteOptions } from '@pasteflow/domain';
import { messageOf, UsageError } from '../errors.ts';
import { safeText } from '../terminal/output.ts';
import { MAX_BUFFERED_BYTES, openContent } from './content-source.ts';

/**
 * The names that files have in their paste: their path below the current folder, and outside of it the last part of the
 * path, which tells nothing of the folders of this machine.
 * @param paths `-` is stdin
 * @param otherwise what else the command can do
 * @throws UsageError for names that a paste can't have
 */
export function namesOf(
  paths: readonly string[],
  otherwise = ', or make a paste of each with --each',
): readonly string[] {
  const names = paths.map((path) => normalFileName(path === '-' ? 'stdin' : nameOf(path)));
  if (names.length > MAX_FILES)
    throw new UsageError(`A paste has at most ${MAX_FILES} files. Put them into an archive${otherwise}.`);
  const [problem] = names.length === 1 ? [] : fileNameProblems(names);
  if (problem !== undefined)
    throw new UsageError(
      `The name ${JSON.stringify(names[problem.index])} ${problem.message}. Rename the file${otherwise}.`,
    );
  return names;
}

function nameOf(path: string): string {
  const below = relative('', path);
  const parts = below.split(sep);
  return parts[0] === '..' || isAbsolute(below) ? basename(path) : parts.join('/');
}

/** The title of a paste of one file, for which none is given: the name of the file, unless that can be no title. */
export function titleOf(path: string): string | undefined {
  const name = basename(path);
  const { maxCharacters } = pasteOptions.title;
  return path === '-' || name !== safeText(name) || name.length > maxCharacters ? undefined : name;
}

/** The files of one paste as its attachments. @throws Error, UsageError */
export async function readNamedFiles(
  paths: readonly string[],
  stdin: Readable,
  onSent: (bytes: number) => void,
): Promise<readonly { readonly name: string; readonly bytes: Bytes }[]> {
  const [path = ''] = paths;
  const names = paths.length > 1 ? namesOf(paths) : [path === '-' ? 'attachment' : basename(path)];
  const contents = await readFiles(paths, stdin, onSent);
  return contents.map((bytes, index) => ({ name: names[index] ?? '', bytes }));
}

/** The bytes of the files of one paste. One that can't be read fails all. @throws Error that names it among several */
async function readFiles(
  paths: readonly string[],
  stdin: Readable,
  onSent: (bytes: number) => void,
): Promise<readonly Bytes[]> {
  const contents: Bytes[] = [];
  let left = MAX_BUFFERED_BYTES;
  for (const path of paths) {
    const bytes = await readOne(path, stdin, left).catch((error: unknown) => {
      if (paths.length === 1) throw error;
      throw new Error(`${path === '-' ? 'stdin' : path}: ${messageOf(error, path)}`, { cause: error });
    });
    left -= bytes.length;
    onSent(bytes.length);
    contents.push(bytes);
  }
  return contents;
}

async function readOne(path: string, stdin: Readable, maxBytes: number): Promise<Bytes> {
  const source = await openContent(path, stdin, () => {});
  try {
    if (source.size > maxBytes) throw new Error('The files have more than 256 MiB.');
    return await bytesOf(source.content);
  } finally {
    await source.close();
  }
}

async function bytesOf(content: Content): Promise<Bytes> {
  const body = typeof content === 'function' ? await content() : content;
  const response = new Response(body instanceof Uint8Array ? new Blob([Uint8Array.from(body)]) : body);
  return new Uint8Array(await response.arrayBuffer());
}
