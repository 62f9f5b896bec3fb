import { commandName, type Help, type Misused, misused, parseArguments, quote } from '@pasteflow/service-kit';
import { Metrics, type Entry } from '@pasteflow/runtime';
import { sweepNames, type SweepName } from './sweep-names.ts';
import { operator, recorded } from './operations/actions/record.ts';
import { runSweep } from './operations/actions/run-sweep.ts';
import { composeSweeps } from './compose.ts';
import type { JanitorConfig } from './config.ts';

interface OnceCommand {
  readonly kind: 'once';
  readonly sweep: SweepName;
  readonly allowMassDeletion: boolean;
  /** Why the operator runs the sweep, for the record of the action; null: none was given. */
  readonly reason: string | null;
}

type JanitorCommand = { readonly kind: 'service' } | OnceCommand;

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

/**
 * Runs one sweep, records it among the actions of operators, and prints its counts as JSON on stdout,
 * beside the janitor that runs the sweeps, which does no harm. SIGTERM and Ctrl-C end the run between two batches, so
 * that no row stays claimed. A second signal ends the process at once.
 */
export async function runOnce(
  entry: Entry<JanitorConfig>,
  { sweep: name, allowMassDeletion, reason }: OnceCommand,
): Promise<void> {
  const metrics = new Metrics(entry.name, { process: false });
  const { operations, close } = composeSweeps(entry, metrics, { allowMassDeletion });
  const stopping = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stopping.abort());
  const by = { actor: operator(), reason, class: 'other' } as const;
  const running = { signal: stopping.signal, onProgress: () => {} };
  const subject = allowMassDeletion ? `${name} --allow-mass-deletion` : name;
  try {
    const { json } = await recorded(
      operations.db,
      { ...by, action: 'run-sweep', subject },
      {
        run: () => runSweep.do(operations, name, by, running),
        outcomeOf: ({ outcome }) => outcome,
        onNotRecorded: (error) =>
          entry.logger.warn('outcome of an action not recorded', { sweep: name, error }),
      },
    );
    process.stdout.write(`${JSON.stringify(json)}\n`);
  } finally {
    await close();
  }
}
