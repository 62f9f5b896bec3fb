import { spawnSync } from 'node:child_process';

type Command = [command: string, ...args: string[]];
export type DeathSignal = 'TERM' | 'KILL';

/**
 * The command that runs a TypeScript entry file and the workspace packages from their sources, with the Node
 * of this process.
 */
export function sourceCommand(
  entry: string,
  args: readonly string[],
  deathSignal: DeathSignal,
  nodeOptions: readonly string[] = [],
): Command {
  return nodeCommand(['--conditions=source', ...nodeOptions, entry, ...args], deathSignal);
}

/**
 * The command that runs a bundle of an entry file. Stack traces name the lines of the bundle: reading its
 * source maps takes a fifth of the CPU time of a start.
 */
export function bundleCommand(file: string, args: readonly string[], deathSignal: DeathSignal): Command {
  return nodeCommand([file, ...args], deathSignal);
}

function nodeCommand(args: readonly string[], deathSignal: DeathSignal): Command {
  const node = [process.execPath, '--disable-warning=ExperimentalWarning', ...args];
  return [...onParentDeath(deathSignal), ...node] as Command;
}

let setpriv: string | undefined;

/**
 * Returns a command prefix that makes a child process receive `signal` when this process dies, even by kill
 * -9. It uses setpriv of util-linux, with an absolute path because the child may have another PATH. On other
 * systems than Linux the prefix is empty, and the children of a killed process keep running.
 */
export function onParentDeath(signal: 'INT' | 'TERM' | 'KILL'): string[] {
  setpriv ??= findSetpriv();
  return setpriv === '' ? [] : [setpriv, '--pdeathsig', signal];
}

/** @returns an empty string where there is none with the option; the setpriv of busybox does not have it */
function findSetpriv(): string {
  if (process.platform !== 'linux') return '';
  const { status, stdout } = spawnSync('sh', ['-c', 'command -v setpriv && setpriv --pdeathsig KILL true']);
  return status === 0 ? stdout.toString().trim() : '';
}
