import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Bytes } from '@pasteflow/client';
import { EXIT_DONE, type ExitCode, UsageError } from '../errors.ts';
import { assertWritable } from '../files/write-atomically.ts';
import {
  contentOfBytes,
  type ContentPart,
  keyIn,
  openContent,
  type OpenedContent,
  type ReadableContent,
} from '../sealed/open-content.ts';
import { noteLeftOut, saveAttachments } from '../sealed/save-attachments.ts';
import type { Session } from '../session.ts';
import { pasteNamedBy } from '../settings/named.ts';
import { isFile, printContent, type PrintOptions } from './print-content.ts';
import { type NamedPaste, reveal, type UseContent } from './reveal.ts';

export interface CatOptions extends PrintOptions {
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
export async function diff(session: Session, paste: string, options: PrintOptions): Promise<ExitCode> {
  const { client, server, signal } = session;
  const patch = await client.pastes.diff(pasteNamedBy(paste, server), { signal });
  await printContent(session, contentOfBytes(patch), options);
  return EXIT_DONE;
}
