import { spawn, type StdioOptions } from 'node:child_process';
import type { Terminal } from './terminal.ts';

/**
 * Runs a program of the person's machine and waits for its end.
 * @returns its exit code, or null when a signal has ended it. @throws Error ENOENT when there is none
 */
export async function runProgram(
  { env }: Pick<Terminal, 'env'>,
  [command, ...args]: readonly [string, ...string[]],
  { stdio = 'inherit', input }: { readonly stdio?: StdioOptions; readonly input?: string } = {},
): Promise<number | null> {
  const child = spawn(command, args, { stdio, env: { ...env } });
  child.stdin?.on('error', () => {}); // a program that ends before it has read: its exit code says why
  child.stdin?.end(input);
  return await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', resolve);
  });
}

/** Opens an address as the desktop does. */
export const opener = process.platform === 'darwin' ? 'open' : 'xdg-open';

/** Opens a page in the browser, if there is one. Nothing waits for it, and Ctrl-C does not end the browser. */
export function showInBrowser({ env }: Pick<Terminal, 'env'>, url: string): void {
  const child = spawn(opener, [url], { stdio: 'ignore', detached: true, env: { ...env } });
  child.once('error', () => {});
  child.unref();
}

const CLIPBOARDS = [
  ['pbcopy'],
  ['wl-copy'],
  ['xclip', '-selection', 'clipboard'],
  ['xsel', '--input', '--clipboard'],
] as const;

/** By a program of the desktop, else by the terminal itself (OSC 52), which doesn't say whether it did so. */
export async function copyToClipboard(terminal: Terminal, text: string): Promise<void> {
  for (const command of CLIPBOARDS) {
    const code = await runProgram(terminal, command, {
      stdio: ['pipe', 'ignore', 'ignore'],
      input: text,
    }).catch(() => null);
    if (code === 0) return;
  }
  if (terminal.stderr.isTTY !== true)
    throw new Error('There is no program to copy with. Install wl-copy, xclip or xsel.');
  terminal.stderr.write(`\u001b]52;c;${Buffer.from(text).toString('base64')}\u0007`);
}
