import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StackError } from '../stack-error.ts';
import { majorVersion, type PostgresBinaries } from './binaries.ts';
import { commandAs, giveFolderTo, USE_YOUR_OWN, type Identity } from './identity.ts';

export interface Cluster {
  dir: string;
  password: string;
}

/**
 * Opens the database cluster below `dataDir`, and creates it the first time. The caller holds the lock of
 * `dataDir`.
 */
export function openCluster(
  dataDir: string,
  binaries: PostgresBinaries,
  identity: Identity,
  { fsync }: { fsync: boolean },
): Cluster {
  const major = majorVersion(binaries, identity);
  const dir = join(dataDir, 'cluster');
  const passwordFile = join(dataDir, 'password');
  if (!existsSync(join(dir, 'PG_VERSION'))) initialise(dir, passwordFile, binaries, identity, fsync);
  const made = readFileSync(join(dir, 'PG_VERSION'), 'utf8').trim();
  if (made !== major)
    throw new StackError(
      'data-folder-version',
      `The data folder ${dataDir} was created by Postgres ${made}, and this is Postgres ${major}. Move the folder away to start with an empty one, or set PASTEFLOW_DATA_DIR to another folder.`,
    );
  giveFolderTo(identity, dir);
  return { dir, password: readPassword(passwordFile) };
}

/** initdb writes into a folder that is renamed at the end, so that an interrupted initdb is repeated. */
function initialise(
  dir: string,
  passwordFile: string,
  binaries: PostgresBinaries,
  identity: Identity,
  fsync: boolean,
): void {
  const fresh = `${dir}.new`;
  const freshPassword = `${passwordFile}.new`;
  rmSync(fresh, { recursive: true, force: true });
  mkdirSync(fresh, { mode: 0o700 });
  // The superuser of Postgres can run programs as its operating system user: every local user could do so
  // with a well-known password.
  writeFileSync(freshPassword, `${randomBytes(18).toString('hex')}\n`, { mode: 0o600 });
  if (identity.kind === 'uid')
    for (const path of [fresh, freshPassword]) chownSync(path, identity.uid, identity.uid);
  const { command, args, options } = commandAs(identity, binaries.initdb, [
    `--pgdata=${fresh}`,
    '--username=postgres',
    `--pwfile=${freshPassword}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C.UTF-8',
    '--no-instructions',
    ...(fsync ? [] : ['--no-sync']),
  ]);
  const result = spawnSync(command, args, { ...options, encoding: 'utf8' });
  if (result.status !== 0) {
    const why = /error: (.*)/.exec(result.stderr ?? '')?.[1] ?? result.stderr?.trim().split('\n').at(-1);
    if (why?.includes('could not look up effective user ID') === true)
      throw new StackError(
        'postgres-unavailable',
        `Postgres runs only as a user who has a name (${why}). Add the user to /etc/passwd, run Pasteflow as another one, or ${USE_YOUR_OWN}.`,
      );
    throw new StackError(
      'data-folder-unusable',
      `Postgres can't create its database in ${dir} (${why ?? result.error?.message}). Make the folder writable, or set PASTEFLOW_DATA_DIR to another folder.`,
      { cause: result.error },
    );
  }
  renameSync(freshPassword, passwordFile);
  renameSync(fresh, dir);
}

function readPassword(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (cause) {
    throw new StackError(
      'data-folder-unusable',
      `The file ${file} with the password of the embedded Postgres is missing. Restore it, or move the folder away to start with an empty one.`,
      { cause },
    );
  }
}
