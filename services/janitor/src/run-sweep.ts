import { withSweepLock, type Database } from '@pasteflow/postgres';
import type { Logger, Metrics } from '@pasteflow/runtime';
import type { Sweep, SweepCounts, SweepName } from './sweep.ts';

export interface SweepRunnerOptions {
  /** Connections for the locks alone: each sweep that runs holds one throughout, and must not wait for another to work with. */
  readonly locks: Database;
  readonly lockIdleSeconds: number;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** Seconds: relay and reaper take milliseconds, a reconcile of millions of objects an hour. */
const RUN_BUCKETS_SECONDS = [0.01, 0.05, 0.25, 1, 5, 30, 120, 600, 3600];

/** Runs sweeps one janitor at a time, and writes down what came of it: everything about a run that isn't the sweep's own. */
export class SweepRunner {
  readonly #options: SweepRunnerOptions;
  readonly #runs;
  readonly #duration;
  readonly #rows;
  readonly #lastSuccess;

  constructor(options: SweepRunnerOptions) {
    this.#options = options;
    const { metrics } = options;
    this.#runs = metrics.counter({
      name: 'janitor_sweep_runs_total',
      help: 'Runs of a sweep: done, skipped because another janitor ran it, or failed.',
      labels: ['sweep', 'outcome'],
    });
    this.#duration = metrics.histogram({
      name: 'janitor_sweep_seconds',
      help: 'How long the runs that were not skipped took.',
      labels: ['sweep'],
      buckets: RUN_BUCKETS_SECONDS,
    });
    this.#rows = metrics.counter({
      name: 'janitor_sweep_rows_total',
      help: 'What the runs of a sweep counted, under the names that --once prints.',
      labels: ['sweep', 'count'],
    });
    this.#lastSuccess = metrics.gauge({
      name: 'janitor_sweep_last_success_timestamp_seconds',
      help: 'When this janitor last ended a run of the sweep well, in Unix time.',
      labels: ['sweep'],
    });
  }

  /** @returns null when another janitor is running this sweep. @throws what the sweep throws; the caller logs it */
  async run(sweep: Sweep, signal: AbortSignal): Promise<SweepCounts | null> {
    const { locks, lockIdleSeconds } = this.#options;
    const startedAt = performance.now();
    try {
      const counts = await withSweepLock(locks, sweep.name, () => sweep.runOnce(signal), lockIdleSeconds);
      if (counts === null) this.#skipped(sweep.name);
      else this.#done(sweep.name, counts, startedAt);
      return counts;
    } catch (error) {
      this.#runs.inc({ sweep: sweep.name, outcome: 'failed' });
      this.#duration.observe({ sweep: sweep.name }, (performance.now() - startedAt) / 1000);
      throw error;
    }
  }

  #skipped(sweep: SweepName): void {
    this.#runs.inc({ sweep, outcome: 'skipped' });
    this.#options.logger.debug('sweep skipped: another janitor is running it', { sweep });
  }

  #done(sweep: SweepName, counts: SweepCounts, startedAt: number): void {
    const seconds = (performance.now() - startedAt) / 1000;
    this.#runs.inc({ sweep, outcome: 'done' });
    this.#duration.observe({ sweep }, seconds);
    this.#lastSuccess.set({ sweep }, Date.now() / 1000);
    for (const [count, value] of Object.entries(counts)) this.#rows.inc({ sweep, count }, value);
    // Two sweeps run every 2 s, nearly always to find nothing.
    const level = Object.values(counts).some((value) => value > 0) ? 'info' : 'debug';
    this.#options.logger[level]('sweep done', { sweep, seconds, ...counts });
  }
}
