import { PollLoop, type Component } from '@pasteflow/runtime';
import { holdLeaderLock, type Database } from '@pasteflow/postgres';
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

/**
 * Of several janitors one runs the sweeps by its schedule. Another one takes over within seconds when it ends,
 * freezes, or loses its connection.
 */
export class Leadership implements Component {
  readonly name = 'leadership';
  #leads = false;
  readonly #loop: PollLoop;

  /**
   * @param lock a connection for the lock alone
   * @param onChange called when this janitor begins to lead, and when it no longer does
   */
  constructor(
    { lockIdleSeconds: idleSeconds, logger }: Pick<JanitorContext, 'lockIdleSeconds' | 'logger'>,
    lock: Database,
    onChange: (leads: boolean) => void,
  ) {
    const changed = (leads: boolean): void => {
      if (leads === this.#leads) return;
      this.#leads = leads;
      logger.info(leads ? 'this janitor runs the sweeps' : 'this janitor no longer runs the sweeps');
      onChange(leads);
    };
    this.#loop = new PollLoop({
      name: this.name,
      intervalMs: 0,
      run: (signal) => holdLeaderLock(lock, { idleSeconds, signal, onChange: changed }),
      // Longer than the others wait before they ask: they get the lock that this janitor has lost.
      backoff: { firstMs: idleSeconds * 500, capMs: idleSeconds * 500, jitter: 0.2 },
      onError: (error, { failures, retryInMs }) => {
        if (!Number.isInteger(Math.log2(failures))) return;
        logger.warn('no lock for the sweeps', { failures, retry_in_ms: retryInMs, error });
      },
    });
  }

  get leads(): boolean {
    return this.#leads;
  }

  start(): Promise<void> {
    return this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }
}
