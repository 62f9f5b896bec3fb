import { onParentDeath } from './parent-death.ts';

/**
 * The command that runs a TypeScript entry file and the workspace packages from their sources, with the Node
 * of this process.
 */
export function sourceCommand(
  entry: string,
  args: string[],
  deathSignal: 'TERM' | 'KILL',
): [command: string, ...args: string[]] {
  const node = [
    process.execPath,
    '--conditions=source',
    '--disable-warning=ExperimentalWarning',
    entry,
    ...args,
  ];
  return [...onParentDeath(deathSignal), ...node] as [string, ...string[]];
}
