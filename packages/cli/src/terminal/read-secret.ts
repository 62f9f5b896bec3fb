import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Terminal } from './terminal.ts';

/**
 * One line from stdin. On a terminal it asks for the line, and shows nothing of what is typed. There, Ctrl-C is a character and no signal
 * until it is made one here.
 */
export async function readSecret(
  { stdin, stderr }: Terminal,
  question: string,
  signal: AbortSignal,
): Promise<string> {
  if (stdin.isTTY !== true) return (await text(stdin)).trim();
  signal.throwIfAborted(); // otherwise nothing would end the question
  stderr.write(question);
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: stdin, output: nowhere, terminal: true });
  try {
    return await new Promise((resolve, reject) => {
      lines.once('line', (line) => resolve(line.trim()));
      lines.once('SIGINT', () => process.kill(process.pid, 'SIGINT'));
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      lines.once('close', () => reject(new Error('Nothing was entered.')));
    });
  } finally {
    lines.close();
    stderr.write('\n');
  }
}
