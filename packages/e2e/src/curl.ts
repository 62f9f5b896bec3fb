import { spawn } from 'node:child_process';

export interface CurlResult {
  readonly code: number | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** Runs the curl of this machine with `input` on its standard input. Rejects when curl is missing: `apt-get install curl`. */
export async function curl(
  args: readonly string[],
  input: Uint8Array = new Uint8Array(),
): Promise<CurlResult> {
  const child = spawn('curl', ['--silent', '--show-error', ...args], { stdio: 'pipe' });
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
  child.stdin.on('error', () => {}); // curl may end before it has read all of its input
  child.stdin.end(input);
  return await new Promise((resolve, reject) => {
    child.once('error', (cause) =>
      reject(new Error('these tests need curl: apt-get install curl', { cause })),
    );
    child.once('close', (code) =>
      resolve({ code, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr).toString() }),
    );
  });
}
