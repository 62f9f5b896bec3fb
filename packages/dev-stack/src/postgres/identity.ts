import { spawnSync, type SpawnOptions } from 'node:child_process';
import { chownSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { StackError } from '../stack-error.ts';
import { USE_YOUR_OWN } from './own-postgres.ts';

/** Postgres refuses to run as root. As whom it runs: ourselves, or, started by root, one of two ways of not being root. */
export type Identity = { kind: 'self' } | { kind: 'user-namespace' } | { kind: 'uid'; uid: number };

// "nobody" on Debian, Fedora and Alpine. The number is enough: it needs no entry in /etc/passwd.
const NOBODY = 65_534;
const UNSHARE = ['unshare', '--user', `--map-user=${NOBODY}`, `--map-group=${NOBODY}`];

/**
 * A user namespace comes first: there "nobody" is still root to the file system outside, so data and binaries may
 * lie below /root. Without one (many containers forbid it) a plain uid must do, which has to reach both by itself.
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

/** `prefix` is run inside the identity: a user namespace entered later would undo setpriv's parent death signal. */
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

/** A plain uid has no rights of root's: below a private home it reaches neither its program nor its data. */
export function requireReach(identity: Identity, path: string): void {
  if (identity.kind !== 'uid') return;
  const { uid } = identity;
  if (spawnSync('test', ['-x', path], { uid, gid: uid }).status === 0) return;
  throw new StackError(
    'postgres-unavailable',
    `Postgres refuses to run as root, and as uid ${uid}, without user namespaces, it can't reach ${path}: run Pasteflow as an ordinary user or from a folder open to all, or ${USE_YOUR_OWN}.`,
  );
}

/** Gives `dir` to the identity when root ran it as another one last time, and a namespace was or wasn't to be had. */
export function giveFolderTo(identity: Identity, dir: string): void {
  if (identity.kind === 'self') return;
  const uid = identity.kind === 'uid' ? identity.uid : 0;
  if (lstatSync(dir).uid === uid) return;
  for (const name of readdirSync(dir)) giveTree(join(dir, name), uid);
  chownSync(dir, uid, uid); // last, so that an interrupted change is taken up again
}

function giveTree(path: string, uid: number): void {
  if (lstatSync(path).isDirectory()) for (const name of readdirSync(path)) giveTree(join(path, name), uid);
  chownSync(path, uid, uid);
}
