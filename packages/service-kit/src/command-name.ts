import { fileURLToPath } from 'node:url';

const entries = { janitor: 'dist/main.js', ops: 'dist/ops-main.js', token: 'dist/token-main.js' } as const;

export type CommandName = keyof typeof entries;

/** Where infra/one-machine/install puts the services, and links its commands to them. */
const ONE_MACHINE = '/opt/pasteflow/';

/**
 * What an operator types before the arguments of a command, where this process runs: in a checkout by npm,
 * on one machine by its commands, and otherwise as the command of an image.
 * @param source a file of this process
 */
export function commandName(name: CommandName, source: string = fileURLToPath(import.meta.url)): string {
  if (source.endsWith('.ts')) return `npm run ${name} --`;
  return source.startsWith(ONE_MACHINE) ? `pasteflow-${name}` : entries[name];
}
