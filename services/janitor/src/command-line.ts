import { sweepNames, type SweepName } from './sweeping/sweep.ts';

export type Command =
  | { readonly kind: 'service' }
  | { readonly kind: 'once'; readonly sweep: SweepName }
  | { readonly kind: 'misused'; readonly message: string };

/** sysexits.h: EX_USAGE. */
export const EXIT_USAGE = 64;

/** No arguments: the service. `--once NAME` or `--once=NAME`: one run of one sweep. */
export function parseCommandLine(args: readonly string[]): Command {
  if (args.length === 0) return { kind: 'service' };
  const [name, ...rest] = args[0] === '--once' ? args.slice(1) : [onceWithName(args[0]), ...args.slice(1)];
  const sweep = sweepNames.find((known) => known === name);
  return sweep !== undefined && rest.length === 0 ? { kind: 'once', sweep } : misused(args);
}

function onceWithName(argument: string | undefined): string | undefined {
  return argument?.startsWith('--once=') === true ? argument.slice('--once='.length) : undefined;
}

function misused(args: readonly string[]): Command {
  const given = JSON.stringify(args.join(' ').slice(0, 100));
  const message = `${given} is not understood: give no arguments, or --once and one sweep of ${sweepNames.join(', ')}`;
  return { kind: 'misused', message };
}
