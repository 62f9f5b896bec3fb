import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Bytes } from '@pasteflow/client';
import type { Attachment } from '@pasteflow/sealed';
import { EXIT_DONE, type ExitCode, UsageError } from '../errors.ts';
import { assertWritable, writeAtomically } from '../files/write-atomically.ts';
import {
  contentOfBytes,
  type ContentPart,
  keyIn,
  openContent,
  type OpenedContent,
  type ReadableContent,
} from '../sealed/open-content.ts';
import type { Session } from '../session.ts';
import { pasteNamedBy } from '../settings/named.ts';
import { type NamedPaste, reveal, type UseContent } from './reveal.ts';
import { sizeText, startProgress } from '../terminal/progress-bar.ts';
import { safeContent } from '../terminal/output.ts';
import { writeTo } from '../terminal/terminal.ts';

interface CatOptions {
  /** A file; `-` is stdout. Default: stdout. */
  readonly output?: string;
  /** Whether a terminal, too, gets every byte as it is. */
  readonly raw?: boolean;
  readonly reveal?: boolean;
  /** A file with the content, which is not asked for again. */
  readonly from?: string;
  /** Files for the attachments of an encrypted paste, in their order. */
  readonly attachment?: readonly string[];
}

/**
 * `pasteflow cat CODE…`: the content of pastes, decrypted where a URL has the key, one after the other, on
 * stdout or in a file.
 */
export async function cat(
  session: Session,
  pastes: readonly string[],
  options: CatOptions,
): Promise<ExitCode> {
  const { server } = session;
  const named = pastes.map((each) => ({ code: pasteNamedBy(each, server), key: keyIn(each) }));
  assertCompatible(named, options);
  const { attachment: files = [] } = options;
  for (const each of named) {
    for (const file of filesIn(options)) await assertWritable(file); // before a paste is deleted by the read
    await withContent(session, each, options, async (content) => {
      const opened = await open(
        session,
        each.key === null && options.raw !== true ? await readable(session, each, content, options) : content,
        each.key,
        files.length === 0 ? 'text or attachment' : 'text',
      );
      const left = await saveAttachments(session, opened.attachments, files);
      await printContent(session, opened, options);
      noteLeftOut(session, left);
      return left.length === 0;
    });
  }
  return EXIT_DONE;
}

async function open(
  session: Session,
  content: ReadableContent,
  key: NamedPaste['key'],
  part: ContentPart,
): Promise<OpenedContent> {
  if (key !== null) return await openContent(session, content, { key, part });
  return { size: content.size, stream: content.stream, attachments: [] };
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
  return isFile(output) ? [output, ...attachment] : attachment;
}

/** @throws UsageError */
function assertCompatible(named: readonly NamedPaste[], options: CatOptions): void {
  const { output, from, attachment, reveal: revealing = false } = options;
  for (const [option, value] of Object.entries({ output, from, attachment }))
    if (value !== undefined && named.length > 1)
      throw new UsageError(`--${option} is for one paste. Read the pastes one by one.`);
  if (from !== undefined && revealing)
    throw new UsageError('--from reads a file, and --reveal asks the server. Choose one of them.');
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
  { from, reveal: revealing = false }: CatOptions,
  use: UseContent,
): Promise<void> {
  const { client, signal } = session;
  if (from !== undefined) {
    await use(contentOfBytes(await readFile(from)));
    return;
  }
  if (revealing) {
    const paste = await client.pastes.get(named.code, { signal });
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
    `These attachments of the paste are not printed: ${all}. To save them, add --attachment FILE for each one, in this order.`,
  );
}

function shown(name: string): string {
  return name.length > MAX_NAME_CHARACTERS ? `${name.slice(0, MAX_NAME_CHARACTERS)}…` : name;
}

/** Writes content to stdout or into a file, byte for byte. On a terminal nothing of it can act. */
async function printContent(
  session: Session,
  content: ReadableContent,
  options: Pick<CatOptions, 'output' | 'raw'>,
): Promise<void> {
  const { stdout } = session.terminal;
  if (isFile(options.output)) await save(session, content, options.output);
  else if (stdout.isTTY === true && options.raw !== true) await show(session, content);
  else for await (const chunk of content.stream) await writeTo(stdout, chunk);
}

/** Whether `--output` names a file. */
function isFile(output: string | undefined): output is string {
  return output !== undefined && output !== '-';
}

async function save({ terminal, signal }: Session, content: ReadableContent, path: string): Promise<void> {
  const progress = startProgress(terminal);
  try {
    await writeAtomically(
      path,
      async (file) => {
        let received = 0;
        for await (const chunk of content.stream) {
          signal.throwIfAborted();
          await file.writeFile(chunk);
          received += chunk.length;
          progress.update(received / content.size, `${sizeText(received)} of ${sizeText(content.size)}`);
        }
      },
      { followsLink: true },
    );
  } finally {
    progress.end();
  }
}

/** Content of strangers on a terminal: nothing in it may act as a command of the terminal. */
async function show({ terminal }: Session, content: ReadableContent): Promise<void> {
  const decoder = new TextDecoder();
  let held = '';
  for await (const chunk of content.stream) {
    const text = held + decoder.decode(chunk, { stream: true });
    held = text.endsWith('\r') ? '\r' : ''; // its line feed may come with the next chunk
    await writeTo(terminal.stdout, safeContent(text.slice(0, text.length - held.length)));
  }
  await writeTo(terminal.stdout, safeContent(held + decoder.decode()));
}
