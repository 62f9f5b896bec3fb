import { fstatSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { type Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';

export interface Terminal {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable & { readonly isTTY?: boolean };
  readonly stderr: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * stdout of a process. Node writes a chunk to a file with one call, and ignores how much of the chunk a full
 * disk has taken: the end of the content would be missing, with exit code 0. Here a full disk is an error.
 */
export function stdoutOf({ stdout }: NodeJS.Process): Terminal['stdout'] {
  return fstatSync(stdout.fd).isFile() ? fileOf(stdout.fd) : stdout;
}

function fileOf(fd: number): Writable {
  return new Writable({
    decodeStrings: true,
    write: (chunk: Buffer, _encoding, done) => {
      try {
        for (let written = 0; written < chunk.length;) written += writeSync(fd, chunk, written);
        done();
      } catch (error) {
        done(error as Error);
      }
    },
  });
}

/** Resolves when the chunk was taken over: a slow reader of stdout slows the download down. */
export function writeTo(stream: Writable, chunk: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(chunk, (error) => (error ? reject(error) : resolve()));
  });
}

/**
 * One line from stdin. On a terminal it asks for the line, and shows nothing of what is typed. There, Ctrl-C
 * is a character and no signal until it is made one here.
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

/** Asks a person on a terminal. @returns false for anything but y or yes, and when there is no answer */
export async function confirms(
  { stdin, stderr }: Terminal,
  question: string,
  signal: AbortSignal,
): Promise<boolean> {
  signal.throwIfAborted(); // otherwise nothing would end the question
  stderr.write(`${question} [y/N] `);
  const lines = createInterface({ input: stdin });
  try {
    return await new Promise((resolve, reject) => {
      lines.once('line', (line) => resolve(/^y(es)?$/i.test(line.trim())));
      lines.once('close', () => resolve(false));
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    });
  } finally {
    lines.close();
  }
}
