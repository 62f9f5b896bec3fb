import { isUtf8 } from 'node:buffer';
import { normalFileName, type PasteFile } from '@pasteflow/domain';
import { type NamedBytes, writeFolder } from '../files/write-folder.ts';
import { contentOfBytes, type ReadableContent } from '../sealed/open-content.ts';
import type { Session } from '../session.ts';
import { sizeText, startProgress } from '../terminal/progress-bar.ts';
import { safeText, safeContent } from '../terminal/output.ts';
import { writeTo } from '../terminal/terminal.ts';
import { writeAtomically } from '../files/write-atomically.ts';

/** Whether `--output` names a folder for all files. */
export function isFolder(output: string | undefined): output is string {
  return output?.endsWith('/') === true;
}

/** The files of a content. @throws Error when the content has other sizes */
export function filesOf(
  bytes: Uint8Array<ArrayBuffer>,
  files: readonly PasteFile[],
): readonly (NamedBytes & Pick<PasteFile, 'syntax'>)[] {
  const last = files.at(-1);
  if (last !== undefined && last.offset + last.size !== bytes.length)
    throw new Error('The content has another size than its files together. Try again.');
  return files.map(({ name, offset, size, syntax }) => ({
    name,
    bytes: bytes.subarray(offset, offset + size),
    syntax,
  }));
}

const MAX_NAMES = 20;

/** Prints the file of this name. @throws Error when there is none */
export async function printFile(
  session: Session,
  files: readonly NamedBytes[],
  name: string,
  options: PrintOptions,
): Promise<void> {
  const wanted = normalFileName(name);
  const found = files.find((file) => file.name === wanted || file.name === name);
  if (found === undefined) {
    const names = files.slice(0, MAX_NAMES).map((file) => JSON.stringify(file.name.slice(0, 255)));
    const more = files.length > MAX_NAMES ? `, and ${files.length - MAX_NAMES} others` : '';
    throw new Error(
      `The paste has no file ${JSON.stringify(name)}. ${names.length > 0 ? `It has ${names.join(', ')}${more}.` : 'It has no files with names.'}`,
    );
  }
  await printContent(session, contentOfBytes(found.bytes), options);
}

/** Saves all files in a new folder. */
export async function saveFiles(
  { output, signal }: Session,
  files: readonly NamedBytes[],
  folder: string,
): Promise<void> {
  await writeFolder(folder, files, signal, { otherwise: 'Save that file with --file NAME -o FILE.' });
  output.note(`${files.length === 1 ? 'One file is' : `${files.length} files are`} in ${folder}`);
}

/**
 * Shows a person one file below the other, under the headings of `tail`.
 * @returns whether all of them are text
 */
export async function showFiles(session: Session, files: readonly NamedBytes[]): Promise<boolean> {
  const { stdout } = session.terminal;
  let isWhole = true;
  for (const [index, { name, bytes }] of files.entries()) {
    const isText = isUtf8(bytes);
    const kind = isText ? '' : ` (${sizeText(bytes.length)} that are no text: save them with -o)`;
    await writeTo(stdout, `${index > 0 ? '\n' : ''}==> ${safeText(name.slice(0, 255))} <==${kind}\n`);
    if (isText) await show(session, contentOfBytes(bytes));
    if (isText && bytes.length > 0 && bytes.at(-1) !== LINE_FEED) await writeTo(stdout, '\n');
    isWhole &&= isText;
  }
  return isWhole;
}

const LINE_FEED = 10;

export interface PrintOptions {
  /** A file; `-` is stdout. Default: stdout. */
  readonly output?: string;
  /** Whether a terminal, too, gets every byte as it is. */
  readonly raw?: boolean;
}

/** Writes content to stdout or into a file, byte for byte. On a terminal nothing of it can act. */
export async function printContent(
  session: Session,
  content: ReadableContent,
  options: PrintOptions,
): Promise<void> {
  const { stdout } = session.terminal;
  if (isFile(options.output)) await save(session, content, options.output);
  else if (stdout.isTTY === true && options.raw !== true) await show(session, content);
  else for await (const chunk of content.stream) await writeTo(stdout, chunk);
}

/** Whether `--output` names a file. */
export function isFile(output: string | undefined): output is string {
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
