import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Bytes, Paste } from '@pasteflow/client';
import { fileNameOf } from '@pasteflow/domain';
import type { Attachment } from '@pasteflow/sealed';
import { EXIT_DONE, type ExitCode, UsageError } from '../errors.ts';
import { assertWritable, writeAtomically } from '../files/write-atomically.ts';
import { assertNoFolder } from '../files/write-folder.ts';
import {
  contentOfBytes,
  keyIn,
  openContent,
  type OpenedContent,
  type ReadableContent,
} from '../sealed/open-content.ts';
import type { Session } from '../session.ts';
import { fileNamedBy, pasteNamedBy } from '../settings/named.ts';
import { type NamedPaste, reveal, type UseContent } from './reveal.ts';
import {
  filesOf,
  isFolder,
  printFile,
  saveFiles,
  showFiles,
  isFile,
  printContent,
  type PrintOptions,
} from './several-files.ts';

interface CatOptions extends PrintOptions {
  /** The name of one file of a paste of several. Default: the one of the URL, or all of them. */
  readonly file?: string;
  readonly reveal?: boolean;
  /** A file with the content, which is not asked for again. */
  readonly from?: string;
  /** Files for the attachments of an encrypted paste, in their order. */
  readonly attachment?: readonly string[];
}

/** `file`: null for all of the content. */
interface NamedContent extends NamedPaste {
  readonly file: string | null;
}

/**
 * `pasteflow cat CODE…`: the content of pastes, decrypted where a URL has the key, one after the other, on
 * stdout or in a file, or the files of one in a folder.
 */
export async function cat(
  session: Session,
  pastes: readonly string[],
  options: CatOptions,
): Promise<ExitCode> {
  const { server } = session;
  const named = pastes.map((each): NamedContent => ({
    code: pasteNamedBy(each, server),
    key: keyIn(each),
    file: options.file ?? fileNamedBy(each),
  }));
  assertCompatible(named, options);
  for (const each of named) {
    // Before a paste is deleted by the read.
    if (isFolder(options.output)) await assertNoFolder(options.output);
    else for (const file of filesIn(options)) await assertWritable(file);
    await catOne(session, each, options);
  }
  return EXIT_DONE;
}

async function catOne(session: Session, named: NamedContent, options: CatOptions): Promise<void> {
  const { attachment = [], output, raw = false, from } = options;
  const isShown = session.terminal.stdout.isTTY === true && !isFile(output) && !raw;
  const isByName = named.file !== null || isFolder(output);
  const paste =
    named.key === null && from === undefined && (isByName || isShown)
      ? await session.client.pastes.get(named.code, { signal: session.signal })
      : null;
  const code = paste?.short_code ?? named.code; // a slug may move meanwhile
  await withContent(session, { ...named, code }, { options, paste }, async (content) => {
    const opened = await open(session, named, options, { content, paste });
    const { files } = opened;
    if (named.file !== null) {
      await printFile(session, files, named.file, options);
      return files.length === 1;
    }
    if (isFolder(output)) {
      await saveFiles(session, files, output);
      return true;
    }
    if (isShown && files.length > 1 && attachment.length === 0) return await showFiles(session, files);
    const left = await saveAttachments(session, opened.attachments, attachment);
    await printContent(session, opened, options);
    noteLeftOut(session, left);
    return left.length === 0;
  });
}

/** @param paste null: nobody has asked for its files, or the content is encrypted */
async function open(
  session: Session,
  named: NamedPaste,
  options: CatOptions,
  { content, paste }: { readonly content: ReadableContent; readonly paste: Paste | null },
): Promise<OpenedContent> {
  const { key } = named;
  if (key !== null) {
    const part = options.attachment === undefined ? 'text or attachment' : 'text';
    return await openContent(session, content, { key, part });
  }
  const { size, stream } = options.raw === true ? content : await readable(session, named, content, options);
  const { files: placed = null } = paste ?? {}; // a server of an earlier version sends none
  if (paste === null || (placed === null && !isFolder(options.output)))
    return { size, stream, attachments: [], files: [] };
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const only = { name: fileNameOf(paste.title, paste.short_code), bytes };
  const files = placed === null ? [only] : filesOf(bytes, placed);
  return { ...contentOfBytes(bytes), attachments: [], files };
}

/** How every encrypted document begins. */
const SEALED = '{"v":2,"adata":[';

/** Content that is no ciphertext, of which a person without the key has nothing. @throws Error */
async function readable(
  { client, signal }: Session,
  { code }: NamedPaste,
  { size, stream }: ReadableContent,
  { from }: CatOptions,
): Promise<ReadableContent> {
  const [start, rest] = await startOf(stream, SEALED.length);
  const isSealed = Buffer.from(start).toString('latin1').startsWith(SEALED);
  if (isSealed && (from !== undefined || (await client.pastes.get(code, { signal })).encrypted))
    throw new Error(
      'This paste is encrypted. Name it by its whole URL with the key behind the #, and quote the URL. With --raw you get the ciphertext.',
    );
  return { size, stream: rest };
}

/** @returns at least `bytes` bytes unless the stream is shorter, and a stream that has these bytes, too */
async function startOf(
  stream: ReadableContent['stream'],
  bytes: number,
): Promise<readonly [Uint8Array, ReadableContent['stream']]> {
  const reader = stream.getReader();
  const chunks: Bytes[] = [];
  for (let held = 0; held < bytes; held += chunks.at(-1)?.length ?? 0) {
    const { done, value } = await reader.read();
    if (done) break;
    chunks.push(value);
  }
  const rest = new ReadableStream<Bytes>({
    pull: async (controller) => {
      const chunk = chunks.shift() ?? (await reader.read()).value;
      if (chunk === undefined) controller.close();
      else controller.enqueue(chunk);
    },
    cancel: async (reason) => await reader.cancel(reason),
  });
  return [Buffer.concat(chunks), rest];
}

/** The files that the options name for what is written. */
function filesIn({ output, attachment = [] }: CatOptions): readonly string[] {
  return isFile(output) && !isFolder(output) ? [output, ...attachment] : attachment;
}

/** @throws UsageError */
function assertCompatible(named: readonly NamedContent[], options: CatOptions): void {
  const { output, from, attachment, reveal: revealing = false } = options;
  const isByName = named.some(({ file }) => file !== null) || isFolder(output);
  for (const [option, value] of Object.entries({ output, from, attachment, file: options.file }))
    if (value !== undefined && named.length > 1)
      throw new UsageError(`--${option} is for one paste. Read the pastes one by one.`);
  if (from !== undefined && revealing)
    throw new UsageError('--from reads a file, and --reveal asks the server. Choose one of them.');
  if (isByName && from !== undefined && named.some(({ key }) => key === null))
    throw new UsageError('--from has no names of files, unless the content is encrypted. Name the key.');
  if (named.some(({ file }) => file !== null) && isFolder(output))
    throw new UsageError('--file is one file, and a folder gets all of them. Choose one of them.');
  if (isByName && attachment !== undefined)
    throw new UsageError('--attachment saves files by their order. Leave it out, or --file and the folder.');
  if (attachment === undefined) return;
  if (named.some(({ key }) => key === null))
    throw new UsageError(
      '--attachment is for an encrypted paste. Name the paste by its whole URL with the key behind the #, and quote the URL.',
    );
  const paths = filesIn(options).map((file) => resolve(file));
  if (attachment.includes('-') || new Set(paths).size < paths.length)
    throw new UsageError('--attachment needs a file of its own for each attachment.');
}

/** With --reveal: reveals the paste if it is deleted when it is read, and reads it otherwise. */
async function withContent(
  session: Session,
  named: NamedPaste,
  { options, paste: known }: { readonly options: CatOptions; readonly paste: Paste | null },
  use: UseContent,
): Promise<void> {
  const { client, signal } = session;
  const { from, reveal: revealing = false } = options;
  if (from !== undefined) {
    await use(contentOfBytes(await readFile(from)));
    return;
  }
  if (revealing) {
    const paste = known ?? (await client.pastes.get(named.code, { signal }));
    if (paste.burn) return await reveal(session, named, paste, use);
  }
  await use(await client.pastes.content(named.code, { signal }));
}

/** `pasteflow diff CODE`: what has changed since the paste that this one was made from, as a patch. */
export async function diff(
  session: Session,
  paste: string,
  options: Pick<CatOptions, 'output' | 'raw'>,
): Promise<ExitCode> {
  const { client, server, signal } = session;
  const patch = await client.pastes.diff(pasteNamedBy(paste, server), { signal });
  await printContent(session, contentOfBytes(patch), options);
  return EXIT_DONE;
}

/** What stderr shows of the names: each may have megabytes, and there may be any number of them. */
const MAX_NAME_CHARACTERS = 100;
const MAX_NAMES = 20;

/**
 * Writes the first attachments of a paste into these files. The names in the paste are texts of strangers:
 * they are shown, and never used as paths.
 * @returns the attachments that no file was named for
 * @throws Error when there are more files than attachments; nothing was written
 */
async function saveAttachments(
  { output, signal }: Session,
  attachments: readonly Attachment[],
  files: readonly string[],
): Promise<readonly Attachment[]> {
  if (files.length > attachments.length)
    throw new Error(
      `--attachment names ${files.length} files, but the paste has ${attachments.length} attachments. No attachment was saved.`,
    );
  for (const [index, { name, bytes }] of attachments.slice(0, files.length).entries()) {
    signal.throwIfAborted();
    const file = files[index] ?? '';
    await writeAtomically(file, (handle) => handle.writeFile(bytes), { followsLink: true });
    output.note(`The attachment ${shown(name)} is in ${file}`);
  }
  return attachments.slice(files.length);
}

/** Says which attachments nobody has got. */
function noteLeftOut({ output }: Session, attachments: readonly Attachment[]): void {
  if (attachments.length === 0) return;
  const names = attachments.slice(0, MAX_NAMES).map(({ name }) => shown(name));
  const others = attachments.length - names.length;
  const all = others === 0 ? names.join(', ') : `${names.join(', ')} and ${others} others`;
  output.note(
    `These attachments of the paste are not printed: ${all}. To save them, add --attachment FILE for each one, in this order; --file NAME for one; or -o FOLDER/ for all.`,
  );
}

function shown(name: string): string {
  return name.length > MAX_NAME_CHARACTERS ? `${name.slice(0, MAX_NAME_CHARACTERS)}…` : name;
}
