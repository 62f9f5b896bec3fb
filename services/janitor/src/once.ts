import { Metrics, type Entry } from '@pasteflow/runtime';
import { composeSweeps } from './compose.ts';
import type { JanitorConfig } from './config.ts';
import type { OnceCommand } from './command-line.ts';
import { recordAction, type RecordedCommand } from './ops/record-action.ts';
import { sweepOutcome } from './sweeping/sweep-outcome.ts';

/**
 * Runs one sweep, records it among the actions of operators, and prints its counts as JSON on stdout: `{"skipped":1}` when another janitor
 * is running it. SIGTERM and Ctrl-C end the run between two batches, so that no row stays claimed. A second signal ends the process at once.
 */
export async function runOnce(entry: Entry<JanitorConfig>, command: OnceCommand): Promise<void> {
  const { sweep: name, allowMassDeletion } = command;
  const metrics = new Metrics(entry.name, { process: false });
  const { sweeps, runner, owner, close } = composeSweeps(entry, metrics, { allowMassDeletion });
  const stopping = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stopping.abort());
  try {
    const { result: counts, notRecorded } = await recordAction(
      owner.db,
      recordOf(command),
      () => runner.run(sweeps[name], stopping.signal),
      (done) => sweepOutcome(done, stopping.signal),
    );
    if (notRecorded !== null)
      entry.logger.warn('outcome of an action not recorded', { sweep: name, reason: notRecorded });
    process.stdout.write(`${JSON.stringify(counts ?? { skipped: 1 })}\n`);
  } finally {
    await close();
  }
}

/** The same action as that of the operations page. */
function recordOf({ sweep, allowMassDeletion, reason }: OnceCommand): RecordedCommand {
  const subject = allowMassDeletion ? `${sweep} --allow-mass-deletion` : sweep;
  return { action: 'run-sweep', subject, reason };
}
