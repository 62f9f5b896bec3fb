import { DependencyUnavailableError } from '@pasteflow/domain';
import { recordSweepRun, type SweepRun } from '@pasteflow/postgres';
import type { RefusedRow } from './refused-rows.ts';
import { sweepNames, type SweepName } from '../../sweep-names.ts';
import type { Sweep, SweepCounts } from './sweep.ts';
import type { JanitorContext } from '../context.ts';

/** Refused rows of one sweep in the log, in `sweep_runs` and in the metrics, where each is a label. */
const MAX_SHOWN = 20;

/** The relay and the reaper take milliseconds, a reconcile of millions of objects an hour. */
const RUN_BUCKETS_SECONDS = [0.01, 0.05, 0.25, 1, 5, 30, 120, 600, 3600];

/**
 * Runs a sweep once at a time in this process, and records the run in the log, in the metrics and in
 * `sweep_runs`.
 */
export class SweepRunner {
  readonly #janitor: Pick<JanitorContext, 'db' | 'actor' | 'logger'>;
  readonly #runs;
  readonly #duration;
  readonly #rows;
  readonly #lastSuccess;
  readonly #succeededAtMs = new Map<SweepName, number>();
  readonly #running = new Set<SweepName>();
  /** The rows that were refused to the sweeps that this janitor runs. */
  readonly #refused = new Map<SweepName, readonly RefusedRow[]>();

  constructor({ metrics, ...janitor }: Pick<JanitorContext, 'db' | 'actor' | 'logger' | 'metrics'>) {
    this.#janitor = janitor;
    this.#runs = metrics.counter({
      name: 'janitor_sweep_runs_total',
      help: 'Runs of a sweep, by outcome: done, failed, or skipped because the sweep was running.',
      labels: ['sweep', 'outcome'],
    });
    this.#duration = metrics.histogram({
      name: 'janitor_sweep_seconds',
      help: 'Duration of the runs that were not skipped.',
      labels: ['sweep'],
      buckets: RUN_BUCKETS_SECONDS,
    });
    this.#rows = metrics.counter({
      name: 'janitor_sweep_rows_total',
      help: 'Counts of the runs of a sweep, under the names that --once prints.',
      labels: ['sweep', 'count'],
    });
    metrics.computed(
      {
        type: 'gauge',
        name: 'janitor_refused_rows',
        help: 'How often Postgres has refused a row to a sweep, which leaves it out for a time: the first 20 rows of each sweep.',
        labels: ['sweep', 'row'],
      },
      () =>
        [...this.#refused].flatMap(([sweep, rows]) =>
          rows.slice(0, MAX_SHOWN).map(({ row, failures }) => ({ labels: { sweep, row }, value: failures })),
        ),
    );
    this.#lastSuccess = metrics.gauge({
      name: 'janitor_sweep_last_success_timestamp_seconds',
      help: 'Unix time of the last successful run of the sweep in any janitor.',
      labels: ['sweep'],
    });
  }

  /**
   * @returns null when this process is running the sweep
   * @throws the error of the sweep; the caller logs it
   */
  async run(sweep: Sweep, signal: AbortSignal): Promise<SweepCounts | null> {
    if (this.#running.has(sweep.name)) {
      this.#runs.inc({ sweep: sweep.name, outcome: 'skipped' });
      return null;
    }
    this.#running.add(sweep.name);
    const startedAt = performance.now();
    const soFar: Record<string, number> = {};
    try {
      const counts = await sweep.runOnce(signal, soFar);
      // An aborted run ended early, so it says nothing about the sweep; and the process has no time for
      // another statement.
      if (!signal.aborted) await this.#record(sweep, 'done', counts, startedAt);
      this.#done(sweep, counts, startedAt);
      return counts;
    } catch (error) {
      this.#runs.inc({ sweep: sweep.name, outcome: 'failed' });
      this.#count(sweep.name, soFar);
      this.#reportRefused(sweep.name, sweep.refused);
      this.#duration.observe({ sweep: sweep.name }, (performance.now() - startedAt) / 1000);
      if (!signal.aborted && !isPostgresDown(error)) await this.#record(sweep, 'failed', soFar, startedAt);
      throw error;
    } finally {
      this.#running.delete(sweep.name);
    }
  }

  /** The rows that were refused are another janitor's to know. */
  forgetRefused(): void {
    this.#refused.clear();
  }

  /**
   * Takes over the last successes of other janitors: a sweep that this janitor always skips is not overdue. A
   * time ahead of this janitor's clock must not hide for as long that the sweep is.
   */
  learn(runs: readonly SweepRun[]): void {
    for (const { sweep, last_success_at: lastSuccessAt } of runs) {
      const name = sweepNames.find((each) => each === sweep);
      if (name !== undefined && lastSuccessAt !== null)
        this.#succeeded(name, Math.min(lastSuccessAt.getTime(), Date.now()));
    }
  }

  /** A run that can't be recorded is still a successful run. */
  async #record(
    { name: sweep, refused }: Sweep,
    outcome: 'done' | 'failed',
    counts: SweepCounts,
    startedAt: number,
  ): Promise<void> {
    const { db, actor, logger } = this.#janitor;
    const seconds = (performance.now() - startedAt) / 1000;
    try {
      const shown = refused.list().slice(0, MAX_SHOWN);
      await recordSweepRun(db, { sweep, outcome, seconds, counts, refused: shown, janitor: actor });
    } catch (error) {
      logger.debug('sweep run not recorded', { sweep, error });
    }
  }

  /** Logs the rows when there are others than after the run before, or one was refused again. */
  #reportRefused(sweep: SweepName, refused: Sweep['refused']): void {
    const rows = refused.list();
    const before = this.#refused.get(sweep) ?? [];
    const known = new Set(before.map(({ row, failures }) => `${failures} ${row}`));
    if (rows.some(({ row, failures }) => !known.has(`${failures} ${row}`)))
      this.#janitor.logger.error('rows that Postgres refuses left out for a time', {
        sweep,
        count: rows.length,
        rows: rows.slice(0, MAX_SHOWN),
      });
    this.#refused.set(sweep, rows);
  }

  #count(sweep: SweepName, counts: SweepCounts): void {
    for (const [count, value] of Object.entries(counts)) this.#rows.inc({ sweep, count }, value);
  }

  #succeeded(sweep: SweepName, atMs: number): void {
    if (atMs <= (this.#succeededAtMs.get(sweep) ?? 0)) return;
    this.#succeededAtMs.set(sweep, atMs);
    this.#lastSuccess.set({ sweep }, atMs / 1000);
  }

  #done({ name: sweep, refused }: Sweep, counts: SweepCounts, startedAt: number): void {
    const seconds = (performance.now() - startedAt) / 1000;
    this.#runs.inc({ sweep, outcome: 'done' });
    this.#duration.observe({ sweep }, seconds);
    this.#succeeded(sweep, Date.now());
    this.#count(sweep, counts);
    this.#reportRefused(sweep, refused);
    // Two sweeps run every 2 s and usually find nothing. `measure` counts something whenever the system
    // works.
    const notable = sweep !== 'measure' && Object.values(counts).some((value) => value > 0);
    const level = notable ? 'info' : 'debug';
    this.#janitor.logger[level]('sweep done', { sweep, seconds, ...counts });
  }
}

function isPostgresDown(error: unknown): boolean {
  return error instanceof DependencyUnavailableError && error.dependency === 'postgres';
}
