import { writeAtomically } from '../files/write-atomically.ts';
import type { ReadableContent } from '../sealed/open-content.ts';
import type { Session } from '../session.ts';
import { sizeText, startProgress } from '../terminal/progress-bar.ts';
import { safeContent } from '../terminal/output.ts';
import { writeTo } from '../terminal/terminal.ts';

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
export async function show({ terminal }: Session, content: ReadableContent): Promise<void> {
  const decoder = new TextDecoder();
  let held = '';
  for await (const chunk of content.stream) {
    const text = held + decoder.decode(chunk, { stream: true });
    held = text.endsWith('\r') ? '\r' : ''; // its line feed may come with the next chunk
    await writeTo(terminal.stdout, safeContent(text.slice(0, text.length - held.length)));
  }
  await writeTo(terminal.stdout, safeContent(held + decoder.decode()));
}
