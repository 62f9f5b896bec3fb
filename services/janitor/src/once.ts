import { Metrics, type Entry } from '@pasteflow/runtime';
import { composeSweeps } from './compose.ts';
import type { JanitorConfig } from './config.ts';
import type { OnceCommand } from './command-line.ts';

/**
 * Runs one sweep and prints its counts as JSON on stdout: `{"skipped":1}` when another janitor is running it. SIGTERM and Ctrl-C end the run
 * between two batches, so that no row stays claimed. A second signal ends the process at once.
 */
export async function runOnce(
  entry: Entry<JanitorConfig>,
  { sweep: name, allowMassDeletion }: OnceCommand,
): Promise<void> {
  const metrics = new Metrics(entry.name, { process: false });
  const { sweeps, runner, close } = composeSweeps(entry, metrics, { allowMassDeletion });
  const stopping = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stopping.abort());
  try {
    const counts = await runner.run(sweeps[name], stopping.signal);
    process.stdout.write(`${JSON.stringify(counts ?? { skipped: 1 })}\n`);
  } finally {
    await close();
  }
}
