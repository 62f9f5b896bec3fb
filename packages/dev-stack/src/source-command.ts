import { onParentDeath } from './parent-death.ts';

type Command = [command: string, ...args: string[]];
type DeathSignal = 'TERM' | 'KILL';

/**
 * The command that runs a TypeScript entry file and the workspace packages from their sources, with the Node
 * of this process.
 */
export function sourceCommand(entry: string, args: readonly string[], deathSignal: DeathSignal): Command {
  return nodeCommand(['--conditions=source', entry, ...args], deathSignal);
}

/**
 * The command that runs a bundle of an entry file. Stack traces name the lines of the bundle: reading its source
 * maps takes a fifth of the CPU time of a start.
 */
export function bundleCommand(file: string, args: readonly string[], deathSignal: DeathSignal): Command {
  return nodeCommand([file, ...args], deathSignal);
}

function nodeCommand(args: readonly string[], deathSignal: DeathSignal): Command {
  const node = [process.execPath, '--disable-warning=ExperimentalWarning', ...args];
  return [...onParentDeath(deathSignal), ...node] as Command;
}
