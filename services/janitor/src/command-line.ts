import { misused, parseArguments, quote, type Misused } from '@pasteflow/command-line';
import { sweepNames, type SweepName } from './sweeping/sweep.ts';

export type JanitorCommand =
  { readonly kind: 'service' } | { readonly kind: 'once'; readonly sweep: SweepName };

/** No arguments start the service. `--once NAME` or `--once=NAME` runs one sweep. */
export function parseJanitorCommand(args: readonly string[]): JanitorCommand | Misused {
  if (args.length === 0) return { kind: 'service' };
  const parsed = parseArguments(args, { once: { type: 'string', multiple: true } });
  if (parsed.kind === 'parsed' && parsed.positionals.length === 0 && parsed.values.once?.length === 1) {
    const sweep = sweepNames.find((name) => name === parsed.values.once?.[0]);
    if (sweep !== undefined) return { kind: 'once', sweep };
  }
  return misused(
    `${quote(args.join(' '))} is not understood: give no arguments, or --once and one of the sweeps ${sweepNames.join(', ')}`,
  );
}
