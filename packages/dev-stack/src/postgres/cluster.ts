import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StackError } from '../stack-error.ts';
import { majorVersion, type PostgresBinaries } from './binaries.ts';
import { commandAs, giveFolderTo, type Identity } from './identity.ts';

export interface Cluster {
  dir: string;
  password: string;
}

/** The database cluster below `dataDir`, made by initdb the first time; the caller holds the lock of `dataDir`. */
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
      `The data folder ${dataDir} was made by Postgres ${made} and this is Postgres ${major}: move the folder away to start empty, or set PASTEFLOW_DATA_DIR to another one.`,
    );
  giveFolderTo(identity, dir);
  return { dir, password: readPassword(passwordFile) };
}

/** initdb writes into a folder that is renamed at the end: one that was killed half-way is simply made again. */
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
  // The superuser of Postgres can run programs as us: a well-known password would hand that to every local user.
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
    throw new StackError(
      'data-folder-unusable',
      `Postgres can't make its database in ${dir} (${why ?? result.error?.message}): make the folder writable and reachable, or set PASTEFLOW_DATA_DIR to another one.`,
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
      `The file ${file} with the password of the embedded Postgres is missing: put it back, or move the folder away to start empty.`,
      { cause },
    );
  }
}
