import { PollLoop, type Component } from '@pasteflow/runtime';
import type { SweepRunner } from './sweep-runner.ts';
import { dailySweeps, type SweepName } from '../../sweep-names.ts';
import type { Sweep } from './sweep.ts';
import type { JanitorContext } from '../context.ts';

/**
 * How often a janitor asks whether a daily sweep is due. The answer comes from the database, so that neither
 * a start of a janitor makes the sweep run, nor does a deployment every day keep it from running.
 */
const DUE_CHECK_MS = 60_000;

/**
 * Runs every sweep at its own interval. It is one component, so that a stop waits for all sweeps in parallel.
 */
export class Schedule implements Component {
  readonly name = 'sweeps';
  readonly #loops: readonly PollLoop[];

  /**
   * @param leads whether this janitor is the one that runs the sweeps. Call `runNow` when it becomes that
   * @param isDue asked before each run of a daily sweep: whether the interval has passed since its last success in
   *   any janitor
   */
  constructor(
    { logger, metrics }: Pick<JanitorContext, 'logger' | 'metrics'>,
    {
      sweeps,
      runner,
      intervalSeconds,
    }: {
      readonly sweeps: readonly Sweep[];
      readonly runner: SweepRunner;
      readonly intervalSeconds: Readonly<Record<SweepName, number>>;
    },
    leads: () => boolean,
    isDue: (sweep: SweepName) => Promise<boolean>,
  ) {
    const intervals = metrics.gauge({
      name: 'janitor_sweep_interval_seconds',
      help: 'Configured time from the end of a run of the sweep to the start of the next run.',
      labels: ['sweep'],
    });
    for (const { name } of sweeps) intervals.set({ sweep: name }, intervalSeconds[name]);
    this.#loops = sweeps.map((sweep) => {
      const intervalMs = intervalSeconds[sweep.name] * 1000;
      const isDaily = dailySweeps.has(sweep.name);
      return new PollLoop({
        name: sweep.name,
        intervalMs: isDaily ? Math.min(intervalMs, DUE_CHECK_MS) : intervalMs,
        run: async (signal) => {
          if (leads() && (!isDaily || (await isDue(sweep.name)))) await runner.run(sweep, signal);
        },
        // A failed sweep is tried again no later than after its interval: the relay runs within 2 s of SQS's
        // return.
        backoff: { firstMs: 500, capMs: intervalMs, jitter: 0.2 },
        onError: (error, { failures, retryInMs }) => {
          // Logs the 1st, 2nd, 4th, 8th … failure in a row: a long outage must not fill the log.
          if (!Number.isInteger(Math.log2(failures))) return;
          logger.error('sweep failed', { sweep: sweep.name, failures, retry_in_ms: retryInMs, error });
        },
      });
    });
  }

  /** Ends the wait for the next run of each sweep. */
  runNow(): void {
    for (const loop of this.#loops) loop.wake();
  }

  async start(): Promise<void> {
    await Promise.all(this.#loops.map((loop) => loop.start()));
  }

  async stop(): Promise<void> {
    await Promise.all(this.#loops.map((loop) => loop.stop()));
  }
}
