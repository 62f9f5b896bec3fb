import { spawnSync, type SpawnOptions } from 'node:child_process';
import { chownSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { StackError } from '../stack-error.ts';

/** The last clause of every message about a machine on which the embedded Postgres cannot run. */
export const USE_YOUR_OWN = 'install Postgres 15 or later and set DATABASE_URL to use it instead';

/**
 * The user as which Postgres runs. Postgres refuses to run as root, so a process of root has two ways to run
 * it as another user.
 */
export type Identity = { kind: 'self' } | { kind: 'user-namespace' } | { kind: 'uid'; uid: number };

// The user nobody on Debian, Fedora and Alpine. initdb needs a name for the number.
const NOBODY = 65_534;
const UNSHARE = ['unshare', '--user', `--map-user=${NOBODY}`, `--map-group=${NOBODY}`];

/**
 * Prefers a user namespace, in which nobody still has the file access of root, so that data and binaries may
 * be below /root. Many containers forbid namespaces; then Postgres runs as a plain uid, which needs its own
 * access to both.
 */
export function chooseIdentity(): Identity {
  if (process.getuid?.() !== 0) return { kind: 'self' };
  const [command, ...args] = UNSHARE as [string, ...string[]];
  const unshares = process.platform === 'linux' && spawnSync(command, [...args, 'true']).status === 0;
  return unshares ? { kind: 'user-namespace' } : { kind: 'uid', uid: NOBODY };
}

export interface Command {
  command: string;
  args: string[];
  options: Pick<SpawnOptions, 'uid' | 'gid'>;
}

/**
 * `prefix` runs inside the identity, because entering a user namespace later would clear the parent death
 * signal of setpriv.
 */
export function commandAs(
  identity: Identity,
  binary: string,
  args: string[],
  prefix: string[] = [],
): Command {
  const words = [...(identity.kind === 'user-namespace' ? UNSHARE : []), ...prefix, binary, ...args];
  const [command, ...rest] = words as [string, ...string[]];
  return {
    command,
    args: rest,
    options: identity.kind === 'uid' ? { uid: identity.uid, gid: identity.uid } : {},
  };
}

/**
 * @throws StackError when the identity is a plain uid without access to `path`, for example below a private
 * home
 */
export function requireReach(identity: Identity, path: string): void {
  if (identity.kind !== 'uid') return;
  const { uid } = identity;
  if (spawnSync('test', ['-x', path], { uid, gid: uid }).status === 0) return;
  throw new StackError(
    'postgres-unavailable',
    `Postgres refuses to run as root, and as uid ${uid}, without user namespaces, it can't reach ${path}. Run Pasteflow as an ordinary user or from a folder that every user can read, or ${USE_YOUR_OWN}.`,
  );
}

/** Changes the owner of `dir` to the identity, when the last run by root used another identity. */
export function giveFolderTo(identity: Identity, dir: string): void {
  if (identity.kind === 'self') return;
  const uid = identity.kind === 'uid' ? identity.uid : 0;
  if (lstatSync(dir).uid === uid) return;
  for (const name of readdirSync(dir)) giveTree(join(dir, name), uid);
  chownSync(dir, uid, uid); // last, so that an interrupted change is repeated
}

function giveTree(path: string, uid: number): void {
  if (lstatSync(path).isDirectory()) for (const name of readdirSync(path)) giveTree(join(path, name), uid);
  chownSync(path, uid, uid);
}
