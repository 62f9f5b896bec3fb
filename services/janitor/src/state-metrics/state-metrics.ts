import {
  countLostWork,
  estimateLivePastes,
  readStateFigures,
  readInstallation,
  readSweepRuns,
  readTransitionStatistics,
  readUncountedSeconds,
  type Database,
  type DurabilitySetting,
  type ExecutionKind,
  type SweepRun,
  type TransitionStatistic,
} from '@pasteflow/postgres';
import { PollLoop, type Component, type Logger, type Metrics, type Sample } from '@pasteflow/runtime';
import { queueCounts, type SqsClient } from '@pasteflow/sqs';
import type { WorkQueue } from '../queues/work-queue.ts';
import type { DeadLetterAges } from './dead-letter-ages.ts';
import { DurabilityCheck } from './durability-check.ts';
import { EnforcementCheck } from './enforcement-check.ts';
import { Reading } from './reading.ts';
import { ageSamples, durationSamples, entitySamples, transitionSamples } from './samples.ts';

export interface StateMetricsOptions {
  readonly db: Database;
  readonly sqs: SqsClient;
  readonly queues: readonly Pick<WorkQueue, 'kind' | 'queue' | 'deadLetters'>[];
  readonly deadLetterAges: DeadLetterAges;
  /** Called with the last run of every sweep in any janitor. */
  readonly onSweepRuns: (runs: readonly SweepRun[]) => void;
  /** Called with the statistics of all transitions. */
  readonly onTransitions?: (statistics: readonly TransitionStatistic[]) => void;
  readonly intervalSeconds: number;
  /** The settings of Postgres that may be unsafe. */
  readonly mayLoseDataBy: readonly DurabilitySetting[];
  readonly metrics: Metrics;
  readonly logger: Logger;
  /** A monotonic clock. */
  readonly nowMs?: () => number;
}

/** Covers a few failed readings: one minute with the interval of 15 s. */
const SHOWN_FOR_INTERVALS = 4;

/** The samples of `pasteflow_queue_oldest_age_seconds` that come from Postgres. */
const QUEUE_AGES = 'queue ages';

const QUEUES = { upload: 'uploads', job: 'jobs' } as const satisfies Record<ExecutionKind, string>;

/**
 * The metrics that come from Postgres and SQS. Each janitor reads them at an interval; a scrape only returns the last reading. So frequent
 * scrapes don't load the database, and a slow database doesn't delay a scrape. When a reading fails, its last figures are reported for
 * 4 intervals and then no longer; `pasteflow_state_metrics_last_success_timestamp_seconds` stays.
 */
export class StateMetrics implements Component {
  readonly name = 'state metrics';
  readonly #options: StateMetricsOptions;
  readonly #database: Reading;
  readonly #queues: Reading;
  readonly #enforcement: EnforcementCheck;
  readonly #durability: DurabilityCheck;
  #lastSuccess: readonly Sample[] = [];
  readonly #loop: PollLoop;

  constructor(options: StateMetricsOptions) {
    this.#options = options;
    const intervalMs = options.intervalSeconds * 1000;
    const nowMs = options.nowMs ?? (() => performance.now());
    this.#database = new Reading(SHOWN_FOR_INTERVALS * intervalMs, nowMs);
    this.#queues = new Reading(SHOWN_FOR_INTERVALS * intervalMs, nowMs);
    this.#enforcement = new EnforcementCheck(options);
    this.#durability = new DurabilityCheck(options);
    this.#declare();
    this.#loop = new PollLoop({
      name: 'state metrics',
      intervalMs,
      run: (signal) => this.read(signal),
      backoff: { firstMs: Math.min(1000, intervalMs), capMs: intervalMs, jitter: 0.2 },
      onError: (error, { failures, retryInMs }) => {
        if (!Number.isInteger(Math.log2(failures))) return;
        options.logger.warn('state metrics not read', { failures, retry_in_ms: retryInMs, error });
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
    const { db, onSweepRuns } = this.#options;
    // In sequence, because they need not be fast and the sweeps use the same connections.
    const statistics = await readTransitionStatistics(db);
    this.#options.onTransitions?.(statistics);
    signal.throwIfAborted();
    const uncountedSeconds = await readUncountedSeconds(db);
    signal.throwIfAborted();
    const figures = await readStateFigures(db);
    signal.throwIfAborted();
    const livePastes = await estimateLivePastes(db);
    signal.throwIfAborted();
    const lost = await countLostWork(db);
    signal.throwIfAborted();
    const enforcementGaps = await this.#enforcement.countGaps();
    signal.throwIfAborted();
    const unsafeSettings = await this.#durability.countUnsafe();
    signal.throwIfAborted();
    const runs = await readSweepRuns(db);
    onSweepRuns(runs);
    signal.throwIfAborted();
    const { createdAt } = await readInstallation(db);
    const { kinds } = figures;
    this.#database.replace({
      pasteflow_installation_timestamp_seconds: [{ value: createdAt.getTime() / 1000 }],
      pasteflow_held_deletions: [
        { value: runs.find(({ sweep }) => sweep === 'reconcile')?.counts.held ?? 0 },
      ],
      pasteflow_transitions_total: transitionSamples(statistics),
      pasteflow_state_duration_seconds: durationSamples(statistics),
      pasteflow_transitions_uncounted_age_seconds: [{ value: uncountedSeconds }],
      pasteflow_state_entities: entitySamples(figures, livePastes),
      pasteflow_state_oldest_age_seconds: ageSamples(figures),
      pasteflow_zombie_executions: kinds.map(({ kind, zombies }) => ({ labels: { kind }, value: zombies })),
      pasteflow_stranded_work: kinds.map(({ kind, stranded }) => ({ labels: { kind }, value: stranded })),
      pasteflow_enforcement_gaps: [{ value: enforcementGaps }],
      pasteflow_unsafe_postgres_settings: [{ value: unsafeSettings }],
      pasteflow_lost_work: kinds.map(({ kind }) => ({ labels: { kind }, value: lost[kind] })),
      pasteflow_unsent_executions: kinds.map(({ kind, unsent }) => ({ labels: { kind }, value: unsent })),
      [QUEUE_AGES]: kinds.map(({ kind, oldestSentSeconds }) => ({
        labels: { queue: QUEUES[kind] },
        value: oldestSentSeconds ?? 0,
      })),
    });
  }

  async #readQueues(): Promise<void> {
    const { queues: workQueues, sqs } = this.#options;
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
    this.#queues.replace({ pasteflow_queue_messages: samples.flat() });
  }

  #declare(): void {
    const { metrics, queues, deadLetterAges } = this.#options;
    for (const shape of shapes)
      metrics.computed(shape, () => [...this.#database.of(shape.name), ...this.#queues.of(shape.name)]);
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
          'Age of the oldest work: for a queue, the time since the oldest execution with a sent message became due; for a dead-letter ' +
          "queue, the age of the oldest message that this janitor's last run of dead-letters saw.",
        labels: ['queue'],
      },
      () => [
        ...this.#database.of(QUEUE_AGES),
        ...queues.map(({ kind }) => ({
          labels: { queue: `${QUEUES[kind]}_dead_letters` },
          value: deadLetterAges.secondsOf(kind) ?? 0,
        })),
      ],
    );
  }
}

const shapes = [
  {
    type: 'gauge',
    name: 'pasteflow_installation_timestamp_seconds',
    help: 'Unix time at which the database was first migrated.',
  },
  {
    type: 'gauge',
    name: 'pasteflow_held_deletions',
    help: 'Objects that the last run of reconcile did not delete because they were too many.',
  },
  {
    type: 'counter',
    name: 'pasteflow_transitions_total',
    help: 'Transitions of the state machines, counted in Postgres with the audit trail.',
    labels: ['machine', 'from', 'to'],
  },
  {
    type: 'histogram',
    name: 'pasteflow_state_duration_seconds',
    help: 'Time that an entity spent in a state before it left the state.',
    labels: ['machine', 'state'],
  },
  {
    type: 'gauge',
    name: 'pasteflow_transitions_uncounted_age_seconds',
    help: 'Age of the oldest transition that pasteflow_transitions_total does not count yet; 0 when there is none.',
  },
  {
    type: 'gauge',
    name: 'pasteflow_state_entities',
    help: "Entities in each state that is not terminal, counted up to 100000; for NOT_EXPIRED the planner's estimate.",
    labels: ['machine', 'state'],
  },
  {
    type: 'gauge',
    name: 'pasteflow_state_oldest_age_seconds',
    help: 'Time that the oldest entity has been in the state; 0 when there is none. For a job, the time since its creation.',
    labels: ['machine', 'state'],
  },
  {
    type: 'gauge',
    name: 'pasteflow_zombie_executions',
    help: 'Executions that are RUNNING after their lease expired.',
    labels: ['kind'],
  },
  {
    type: 'gauge',
    name: 'pasteflow_unsent_executions',
    help: 'Executions that have been due for 10 s and for which no message was sent.',
    labels: ['kind'],
  },
  {
    type: 'gauge',
    name: 'pasteflow_lost_work',
    help: 'Uploads and jobs that were lost more than three times and have not ended, counted up to 100000.',
    labels: ['kind'],
  },
  {
    type: 'gauge',
    name: 'pasteflow_stranded_work',
    help: 'Pastes and jobs that are not at their end and have no open execution, counted among the oldest 1000 of each state.',
    labels: ['kind'],
  },
  {
    type: 'gauge',
    name: 'pasteflow_enforcement_gaps',
    help: 'Triggers, constraints and functions of the enforcement that are missing, disabled or different in Postgres.',
  },
  {
    type: 'gauge',
    name: 'pasteflow_unsafe_postgres_settings',
    help: 'Settings with which Postgres can lose what it has committed (fsync, full_page_writes, synchronous_commit), unless they are allowed.',
  },
  {
    type: 'gauge',
    name: 'pasteflow_queue_messages',
    help: 'Approximate number of messages in each queue, from SQS.',
    labels: ['queue', 'state'],
  },
] as const;
