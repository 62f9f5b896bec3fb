import { Metrics, type Entry } from '@pasteflow/runtime';
import { operator, recorded } from './operations/actions/record.ts';
import { runSweep } from './operations/actions/run-sweep.ts';
import { composeSweeps } from './compose.ts';
import type { JanitorConfig } from './config.ts';
import type { OnceCommand } from './command-line.ts';

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
