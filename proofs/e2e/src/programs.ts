import { execFile } from 'node:child_process';

interface Ended {
  readonly code: number;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
}

/**
 * Runs the curl of this machine with `input` on its standard input. Rejects when curl is missing: `apt-get
 * install curl`.
 */
export async function curl(args: readonly string[], input: Uint8Array = new Uint8Array()): Promise<Ended> {
  return await run('curl', ['--silent', '--show-error', ...args], input);
}

const UNPACK = {
  zip: (file: string, folder: string) => ['unzip', '-q', file, '-d', folder] as const,
  'tar.gz': (file: string, folder: string) => ['tar', '-xzf', file, '-C', folder] as const,
};

/**
 * Unpacks with this machine's unzip or tar. Rejects with the program's output when it fails or warns, and
 * when it is missing: `apt-get install unzip`.
 */
export async function unpack(format: keyof typeof UNPACK, file: string, folder: string): Promise<void> {
  const [command, ...args] = UNPACK[format](file, folder);
  const { code, stderr } = await run(command, args);
  if (code !== 0 || stderr.length > 0) throw new Error(`${command} ended with ${code}: ${stderr.toString()}`);
}

function run(command: string, args: readonly string[], input?: Uint8Array): Promise<Ended> {
  // Without a UTF-8 locale, unzip changes the names of files and warns about them.
  // oxlint-disable-next-line node/no-process-env -- the programs are found by PATH
  const env = { PATH: process.env.PATH, LC_ALL: 'C.UTF-8' };
  return new Promise((resolve, reject) => {
    const options = { env, encoding: 'buffer', maxBuffer: Infinity } as const;
    const child = execFile(command, args, options, (error, stdout, stderr) => {
      const code = error === null ? 0 : error.code;
      if (typeof code === 'number') resolve({ code, stdout, stderr });
      else reject(new Error(`${command} could not be run`, { cause: error }));
    });
    child.stdin?.on('error', () => {}); // the program may end before it has read all of its input
    child.stdin?.end(input);
  });
}
