import { spawn, execFile } from 'node:child_process';

export interface CurlResult {
  readonly code: number | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/**
 * Runs the curl of this machine with `input` on its standard input. Rejects when curl is missing: `apt-get
 * install curl`.
 */
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

const commands = {
  zip: (file: string, folder: string) => ['unzip', '-q', file, '-d', folder] as const,
  'tar.gz': (file: string, folder: string) => ['tar', '-xzf', file, '-C', folder] as const,
};

/**
 * Unpacks with this machine's unzip or tar. Rejects with the program's output when it fails, and when it is
 * missing: `apt-get install unzip`.
 */
export async function unpack(format: keyof typeof commands, file: string, folder: string): Promise<void> {
  const [command, ...args] = commands[format](file, folder);
  // Without a UTF-8 locale, unzip changes the names of files and warns about them.
  // oxlint-disable-next-line node/no-process-env -- the programs are found by PATH
  const env = { PATH: process.env.PATH, LC_ALL: 'C.UTF-8' };
  await new Promise<void>((resolve, reject) => {
    execFile(command, args, { env }, (error, _stdout, stderr) => {
      if (error === null && stderr === '') resolve();
      else reject(new Error(`${command}: ${stderr}`, { cause: error }));
    });
  });
}
