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

/**
 * The first runs are spread over 5 s, so that janitors that start together don't all run at once. This applies to the daily sweeps, too: if
 * they waited a day, a deployment every day would prevent them from ever running.
 */
const FIRST_RUNS_SPREAD_MS = 5000;

/** Runs every sweep at its own interval. It is one component, so that a stop waits for all sweeps in parallel. */
export class Schedule implements Component {
  readonly name = 'sweeps';
  readonly #loops: readonly PollLoop[];

  constructor({ sweeps, runner, intervalSeconds, logger, metrics }: ScheduleOptions) {
    const intervals = metrics.gauge({
      name: 'janitor_sweep_interval_seconds',
      help: 'Configured time from the end of a run of the sweep to the start of the next run.',
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
        // A failed sweep is tried again no later than after its interval: the relay runs within 2 s of SQS's return.
        backoff: { firstMs: 500, capMs: intervalMs, jitter: 0.2 },
        onError: (error, { failures, retryInMs }) => {
          // Logs the 1st, 2nd, 4th, 8th … failure in a row: a long outage must not fill the log.
          if (!Number.isInteger(Math.log2(failures))) return;
          logger.error('sweep failed', { sweep: sweep.name, failures, retry_in_ms: retryInMs, error });
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
