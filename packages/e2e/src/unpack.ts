import { execFile } from 'node:child_process';

const commands = {
  zip: (file: string, folder: string) => ['unzip', '-q', file, '-d', folder] as const,
  'tar.gz': (file: string, folder: string) => ['tar', '-xzf', file, '-C', folder] as const,
};

/** Unpacks with this machine's unzip or tar. Rejects with the program's output when it fails, and when it is missing: `apt-get install unzip`. */
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
