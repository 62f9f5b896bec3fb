import { PasteflowApiError, type PasteContent } from '@pasteflow/client';
import { EXIT_DONE, type ExitCode } from '../exit-codes.ts';
import { assertWritable, writeAtomically } from '../files/write-atomically.ts';
import { keyIn, openContent, type ReadableContent } from '../sealed/open-content.ts';
import type { Session } from '../session.ts';
import { pasteNamedBy } from '../settings/named.ts';
import { sizeText, startProgress } from '../terminal/progress-bar.ts';
import { safeContent } from '../terminal/safe-text.ts';
import { writeTo } from '../terminal/write-to.ts';
import { UsageError } from '../usage-error.ts';

export interface CatOptions {
  readonly output?: string;
  readonly raw?: boolean;
  readonly reveal?: boolean;
}

/** `pasteflow cat CODE…`: the contents, decrypted where a URL has the key, one after the other, on stdout or in a file. */
export async function cat(
  session: Session,
  pastes: readonly string[],
  options: CatOptions,
): Promise<ExitCode> {
  const { terminal, server } = session;
  const named = pastes.map((each) => ({ code: pasteNamedBy(each, server), key: keyIn(each) }));
  if (options.output !== undefined && named.length > 1)
    throw new UsageError('--output is for one paste. Read the pastes one by one.');
  const toFile = options.output !== undefined && options.output !== '-';
  for (const { code, key } of named) {
    if (toFile) await assertWritable(options.output); // before a paste is deleted by the read
    const received = await open(session, code, options);
    const content = key === null ? received : await openContent(session, received, key);
    if (toFile) await save(session, content, options.output);
    else if (terminal.stdout.isTTY === true && options.raw !== true) await show(session, content);
    else for await (const chunk of content.stream) await writeTo(terminal.stdout, chunk);
  }
  return EXIT_DONE;
}

/** With --reveal: reveals the paste if it is deleted when it is read, and reads it otherwise. */
async function open(
  { client, signal }: Session,
  code: string,
  { reveal = false }: CatOptions,
): Promise<PasteContent> {
  if (!reveal) return await client.pastes.content(code, { signal });
  try {
    return await client.pastes.reveal(code, { signal });
  } catch (error) {
    if (!(error instanceof PasteflowApiError) || error.code !== 'nothing_to_reveal') throw error;
    return await client.pastes.content(code, { signal });
  }
}

async function save({ terminal, signal }: Session, content: ReadableContent, path: string): Promise<void> {
  const progress = startProgress(terminal);
  try {
    await writeAtomically(path, async (file) => {
      let received = 0;
      for await (const chunk of content.stream) {
        signal.throwIfAborted();
        await file.writeFile(chunk);
        received += chunk.length;
        progress.update(received / content.size, `${sizeText(received)} of ${sizeText(content.size)}`);
      }
    });
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
