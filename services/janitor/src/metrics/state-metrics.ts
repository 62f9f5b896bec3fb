import type { DurabilitySetting, ExecutionKind, SweepRun, TransitionStatistic } from '@pasteflow/postgres';
import { PollLoop, type Component, type Sample } from '@pasteflow/runtime';
import { queueCounts } from '@pasteflow/sqs';
import type { WorkQueue } from '../sweeps/queues/work-queue.ts';
import { durabilityCheck, enforcementCheck } from './checks.ts';
import { databaseMetrics, readDatabase, type DatabaseReading } from './database-metrics.ts';
import { heldSnapshots } from './checks.ts';
import type { JanitorContext } from '../sweeps/context.ts';

type Needed = Pick<
  JanitorContext,
  'db' | 'sqs' | 'deadLetterAges' | 'quotas' | 'bounds' | 'metrics' | 'logger'
> & {
  readonly queues: readonly Pick<WorkQueue, 'kind' | 'queue' | 'deadLetters'>[];
};

/** What else follows from a reading, and how often there is one. */
interface Reading {
  readonly intervalSeconds: number;
  /** The settings of Postgres that may be unsafe. */
  readonly mayLoseDataBy: readonly DurabilitySetting[];
  /** Called with the last run of every sweep in any janitor. */
  readonly onSweepRuns: (runs: readonly SweepRun[]) => void;
  /** Called with the statistics of all transitions. */
  readonly onTransitions?: (statistics: readonly TransitionStatistic[]) => void;
}

/** Covers a few failed readings: one minute with the interval of 15 s. */
const SHOWN_FOR_INTERVALS = 4;

const QUEUES = { upload: 'uploads', job: 'jobs', webhook: 'webhooks' } as const satisfies Record<
  ExecutionKind,
  string
>;

/**
 * The metrics that come from Postgres and SQS. Each janitor reads them at an interval; a scrape only returns
 * the last reading. So frequent scrapes don't load the database, and a slow database doesn't delay a scrape.
 * When a reading fails, its last figures are reported for 4 intervals and then no longer: every janitor
 * reports the figures of the same database, and the alerts take the greatest, so old figures would keep an
 * alert firing. `pasteflow_state_metrics_last_success_timestamp_seconds` stays.
 */
export class StateMetrics implements Component {
  readonly name = 'state metrics';
  readonly #janitor: Needed;
  readonly #reading: Reading;
  readonly #nowMs: () => number;
  readonly #checks;
  #database: { readonly reading: DatabaseReading; readonly atMs: number } | null = null;
  #queueMessages: { readonly samples: readonly Sample[]; readonly atMs: number } | null = null;
  #lastSuccess: readonly Sample[] = [];
  readonly #loop: PollLoop;

  /** @param nowMs a monotonic clock */
  constructor(janitor: Needed, reading: Reading, nowMs: () => number = () => performance.now()) {
    this.#janitor = janitor;
    this.#reading = reading;
    const { db, logger } = janitor;
    const { mayLoseDataBy } = reading;
    const intervalMs = reading.intervalSeconds * 1000;
    this.#nowMs = nowMs;
    this.#checks = {
      countGaps: enforcementCheck(db, logger),
      countUnsafe: durabilityCheck(db, logger, mayLoseDataBy),
      readHeldSnapshots: heldSnapshots(db, logger, this.#nowMs),
    };
    this.#declare();
    this.#loop = new PollLoop({
      name: 'state metrics',
      intervalMs,
      run: (signal) => this.read(signal),
      backoff: { firstMs: Math.min(1000, intervalMs), capMs: intervalMs, jitter: 0.2 },
      onError: (error, { failures, retryInMs }) => {
        if (!Number.isInteger(Math.log2(failures))) return;
        logger.warn('state metrics not read', { failures, retry_in_ms: retryInMs, error });
      },
    });
  }

  start(): Promise<void> {
    return this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  /** @throws the first failure, after both sources were tried */
  async read(signal: AbortSignal): Promise<void> {
    const readings = await Promise.allSettled([this.#readDatabase(signal), this.#readQueues()]);
    for (const reading of readings) if (reading.status === 'rejected') throw reading.reason;
    this.#lastSuccess = [{ value: Date.now() / 1000 }];
  }

  async #readDatabase(signal: AbortSignal): Promise<void> {
    const { db, quotas, bounds } = this.#janitor;
    const { onSweepRuns, onTransitions } = this.#reading;
    const reading = await readDatabase(db, this.#checks, { quotas, bounds }, signal);
    onTransitions?.(reading.statistics);
    onSweepRuns(reading.sweepRuns);
    this.#database = { reading, atMs: this.#nowMs() };
  }

  async #readQueues(): Promise<void> {
    const { queues: workQueues, sqs } = this.#janitor;
    const queues = workQueues.flatMap(({ kind, queue, deadLetters }) => [
      { name: QUEUES[kind], queue },
      { name: `${QUEUES[kind]}_dead_letters`, queue: deadLetters },
    ]);
    const samples = await Promise.all(
      queues.map(async ({ name, queue }) => {
        const { visible, inFlight, delayed } = await queueCounts(sqs, queue);
        const states = { visible, in_flight: inFlight, delayed };
        return Object.entries(states).map(([state, value]) => ({ labels: { queue: name, state }, value }));
      }),
    );
    this.#queueMessages = { samples: samples.flat(), atMs: this.#nowMs() };
  }

  /** @returns null when it was never read, or not for too long */
  #fresh<Read extends { readonly atMs: number }>(read: Read | null): Read | null {
    const maxAgeMs = SHOWN_FOR_INTERVALS * this.#reading.intervalSeconds * 1000;
    return read !== null && this.#nowMs() - read.atMs <= maxAgeMs ? read : null;
  }

  #declare(): void {
    const { metrics, queues, deadLetterAges } = this.#janitor;
    for (const { samplesOf, ...shape } of databaseMetrics)
      metrics.computed(shape, () => {
        const database = this.#fresh(this.#database);
        return database === null ? [] : samplesOf(database.reading);
      });
    metrics.computed(
      {
        type: 'gauge',
        name: 'pasteflow_queue_messages',
        help: 'Approximate number of messages in each queue, from SQS.',
        labels: ['queue', 'state'],
      },
      () => this.#fresh(this.#queueMessages)?.samples ?? [],
    );
    metrics.computed(
      {
        type: 'gauge',
        name: 'pasteflow_state_metrics_last_success_timestamp_seconds',
        help: 'Unix time at which this janitor last read all figures of the pasteflow_ metrics.',
      },
      () => this.#lastSuccess,
    );
    metrics.computed(
      {
        type: 'gauge',
        name: 'pasteflow_queue_oldest_age_seconds',
        help:
          'Age of the oldest work: for a queue, the time since the oldest execution with a sent message became due; for webhooks, which ' +
          'have no queue, the same of users of whom no worker is sending anything; for a dead-letter ' +
          "queue, the age of the oldest message that this janitor's last run of dead-letters saw.",
        labels: ['queue'],
      },
      () => [
        ...(this.#fresh(this.#database)?.reading.figures.kinds ?? []).map(({ kind, oldestDueSeconds }) => ({
          labels: { queue: QUEUES[kind] },
          value: oldestDueSeconds ?? 0,
        })),
        ...queues.map(({ kind }) => ({
          labels: { queue: `${QUEUES[kind]}_dead_letters` },
          value: deadLetterAges.secondsOf(kind) ?? 0,
        })),
      ],
    );
  }
}
