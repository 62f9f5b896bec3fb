import { PollLoop, type Component, type Logger, type Metrics } from '@pasteflow/runtime';
import type { SweepRunner } from './run-sweep.ts';
import type { Sweep, SweepName } from './sweep.ts';

export interface ScheduleOptions {
  readonly sweeps: readonly Sweep[];
  readonly runner: SweepRunner;
  readonly intervalSeconds: Readonly<Record<SweepName, number>>;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** Janitors that start together spread their first runs over this; the daily ones too, or a daily deploy would keep them from ever running. */
const FIRST_RUNS_SPREAD_MS = 5000;

/** Runs every sweep at its own interval. One component, so that stopping waits for all of them side by side. */
export class Schedule implements Component {
  readonly name = 'sweeps';
  readonly #loops: readonly PollLoop[];

  constructor({ sweeps, runner, intervalSeconds, logger, metrics }: ScheduleOptions) {
    const intervals = metrics.gauge({
      name: 'janitor_sweep_interval_seconds',
      help: 'From the end of a run of the sweep to the start of the next: by it a sweep is overdue.',
      labels: ['sweep'],
    });
    for (const { name } of sweeps) intervals.set({ sweep: name }, intervalSeconds[name]);
    this.#loops = sweeps.map((sweep) => {
      const intervalMs = intervalSeconds[sweep.name] * 1000;
      return new PollLoop({
        name: sweep.name,
        intervalMs,
        firstDelayMs: Math.random() * Math.min(intervalMs, FIRST_RUNS_SPREAD_MS),
        run: async (signal) => {
          await runner.run(sweep, signal);
        },
        // A failing sweep is tried again sooner than its interval, never later: the relay within 2 s of SQS's return.
        backoff: { firstMs: 500, capMs: intervalMs, jitter: 0.2 },
        onError: (error, { failures, retryInMs }) => {
          // The first failure in a row, then the 2nd, 4th, 8th …: a long outage must not fill the log.
          if (!Number.isInteger(Math.log2(failures))) return;
          logger.error('sweep failed', { sweep: sweep.name, failures, retryInMs, error });
        },
      });
    });
  }

  async start(): Promise<void> {
    await Promise.all(this.#loops.map((loop) => loop.start()));
  }

  async stop(): Promise<void> {
    await Promise.all(this.#loops.map((loop) => loop.stop()));
  }
}
