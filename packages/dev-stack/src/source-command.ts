import { onParentDeath } from './parent-death.ts';

/** The command that runs a TypeScript entry file, workspace packages from their sources too, with this process's own Node. */
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
