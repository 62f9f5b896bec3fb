import { commandName, type Help, type Misused, misused, parseArguments, quote } from '@pasteflow/service-kit';
import { sweepNames, type SweepName } from './sweep-names.ts';

export interface OnceCommand {
  readonly kind: 'once';
  readonly sweep: SweepName;
  readonly allowMassDeletion: boolean;
  /** Why the operator runs the sweep, for the record of the action; null: none was given. */
  readonly reason: string | null;
}

export type JanitorCommand = { readonly kind: 'service' } | OnceCommand;

export const usage = `Usage: ${commandName('janitor')} --once SWEEP

Runs one of the sweeps once: ${sweepNames.join(', ')}
Without arguments runs all of them, each at its interval, until SIGTERM.

  --reason TEXT              why, for the record of the action
  --allow-mass-deletion      for --once reconcile: lets it delete any number of objects
`;

/**
 * No arguments start the service. `--once NAME` or `--once=NAME` runs one sweep. `--once reconcile
 * --allow-mass-deletion` lets this run delete any number of objects. `--reason TEXT` is recorded with the
 * run.
 */
export function parseJanitorCommand(args: readonly string[]): JanitorCommand | Help | Misused {
  if (args.length === 0) return { kind: 'service' };
  const parsed = parseArguments(args, {
    once: { type: 'string', multiple: true },
    'allow-mass-deletion': { type: 'boolean' },
    reason: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  });
  if (parsed.kind === 'parsed' && parsed.values.help === true) return { kind: 'help' };
  if (parsed.kind === 'parsed' && parsed.positionals.length === 0 && parsed.values.once?.length === 1) {
    const sweep = sweepNames.find((name) => name === parsed.values.once?.[0]);
    const allowMassDeletion = parsed.values['allow-mass-deletion'] === true;
    if (sweep !== undefined && (sweep === 'reconcile' || !allowMassDeletion))
      return { kind: 'once', sweep, allowMassDeletion, reason: parsed.values.reason ?? null };
  }
  return misused(
    `${quote(args.join(' '))} is not understood: give no arguments, or --once and one of the sweeps ${sweepNames.join(', ')}, and --reason with a text; ` +
      '--allow-mass-deletion is only for --once reconcile',
  );
}
