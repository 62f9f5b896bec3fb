import {
  countLostWork,
  countUntoldEvents,
  findRefusedUploads,
  estimateLivePastes,
  listWorkKinds,
  readInstallation,
  readStateFigures,
  readStoredUsage,
  readSweepRuns,
  readTransitionStatistics,
  readUncountedSeconds,
  stateDurationBounds,
  type Database,
  type Quotas,
  type StateFigures,
  type TimeBounds,
  type TransitionStatistic,
} from '@pasteflow/postgres';
import type { Metrics, Sample } from '@pasteflow/runtime';
import type { CountProblems } from './checks.ts';
import type { ReadHeldSnapshots } from './checks.ts';

export type DatabaseReading = Awaited<ReturnType<typeof readDatabase>>;

interface Checks {
  readonly countGaps: CountProblems;
  readonly countUnsafe: CountProblems;
  readonly readHeldSnapshots: ReadHeldSnapshots;
}

/**
 * Reads everything that the metrics below are made from, in sequence: it need not be fast, and the sweeps use
 * the same connections.
 */
export async function readDatabase(
  db: Database,
  { countGaps, countUnsafe, readHeldSnapshots }: Checks,
  { quotas, bounds }: { readonly quotas: Quotas | null; readonly bounds: TimeBounds | undefined },
  signal: AbortSignal,
) {
  const unlessAborted = async <T>(read: Promise<T>): Promise<T> => {
    const result = await read;
    signal.throwIfAborted();
    return result;
  };
  return {
    statistics: await unlessAborted(readTransitionStatistics(db)),
    uncountedSeconds: await unlessAborted(readUncountedSeconds(db)),
    figures: await unlessAborted(readStateFigures(db, undefined, bounds)),
    livePastes: await unlessAborted(estimateLivePastes(db)),
    lost: await unlessAborted(countLostWork(db)),
    refused: await unlessAborted(findRefusedUploads(db)),
    untoldEvents: await unlessAborted(countUntoldEvents(db)),
    enforcementGaps: await unlessAborted(countGaps()),
    unsafeSettings: await unlessAborted(countUnsafe()),
    heldSnapshots: await unlessAborted(readHeldSnapshots()),
    stored: quotas && {
      ...(await unlessAborted(readStoredUsage(db, null))),
      allowed: { pastes: quotas.maxStoredPastes, bytes: quotas.maxStoredBytes },
    },
    sweepRuns: await unlessAborted(readSweepRuns(db)),
    kinds: await unlessAborted(listWorkKinds(db)),
    ...(await readInstallation(db)),
  };
}

type Shape = Parameters<Metrics['computed']>[0];

interface DatabaseMetric extends Shape {
  readonly samplesOf: (reading: DatabaseReading) => readonly Sample[];
}

/** Each metric that comes from Postgres alone. */
export const databaseMetrics: readonly DatabaseMetric[] = [
  {
    type: 'gauge',
    name: 'pasteflow_installation_timestamp_seconds',
    help: 'Unix time at which the database was first migrated.',
    samplesOf: ({ createdAt }) => [{ value: createdAt.getTime() / 1000 }],
  },
  {
    type: 'gauge',
    name: 'pasteflow_held_deletions',
    help: 'Objects that the last run of reconcile did not delete because they were too many.',
    samplesOf: ({ sweepRuns }) => [
      { value: sweepRuns.find(({ sweep }) => sweep === 'reconcile')?.counts.held ?? 0 },
    ],
  },
  {
    type: 'counter',
    name: 'pasteflow_transitions_total',
    help: 'Transitions of the state machines, counted in Postgres with the audit trail.',
    labels: ['machine', 'from', 'to'],
    samplesOf: ({ statistics }) =>
      statistics.map(({ machine, from, to, count }) => ({ labels: { machine, from, to }, value: count })),
  },
  {
    type: 'histogram',
    name: 'pasteflow_state_duration_seconds',
    help: 'Time that an entity spent in a state before it left the state.',
    labels: ['machine', 'state'],
    samplesOf: durations,
  },
  {
    type: 'gauge',
    name: 'pasteflow_transitions_uncounted_age_seconds',
    help: 'Age of the oldest transition that pasteflow_transitions_total does not count yet; 0 when there is none.',
    samplesOf: ({ uncountedSeconds }) => [{ value: uncountedSeconds }],
  },
  {
    type: 'gauge',
    name: 'pasteflow_state_entities',
    help: "Entities in each state that is not terminal, counted up to 100000; for NOT_EXPIRED the planner's estimate.",
    labels: ['machine', 'state'],
    samplesOf: ({ figures: { states }, livePastes }) => [
      ...states.map(({ machine, state, count }) => ({ labels: { machine, state }, value: count })),
      { labels: { machine: 'paste_deletion', state: 'NOT_EXPIRED' }, value: livePastes },
    ],
  },
  {
    type: 'gauge',
    name: 'pasteflow_state_oldest_age_seconds',
    help: 'Time that the oldest entity has been in the state; 0 when there is none. For a job, the time since its creation.',
    labels: ['machine', 'state'],
    samplesOf: ({ figures: { states } }) =>
      states.map(({ machine, state, oldestSeconds }) => ({
        labels: { machine, state },
        value: oldestSeconds ?? 0, // so that a graph goes on when the last entity has left
      })),
  },
  {
    type: 'gauge',
    name: 'pasteflow_zombie_executions',
    help: 'Executions that are RUNNING after their lease expired.',
    labels: ['kind'],
    samplesOf: ofKinds(({ zombies }) => zombies),
  },
  {
    type: 'gauge',
    name: 'pasteflow_unsent_executions',
    help: 'Executions that have been due for 10 s and for which no message was sent.',
    labels: ['kind'],
    samplesOf: ofKinds(({ unsent }) => unsent),
  },
  {
    type: 'gauge',
    name: 'pasteflow_lost_work',
    help: 'Uploads, jobs and deliveries that were lost more than three times and have not ended, counted up to 100000.',
    labels: ['kind'],
    samplesOf: ofKinds(({ kind }, { lost }) => lost[kind]),
  },
  {
    type: 'gauge',
    name: 'pasteflow_refused_uploads',
    help: 'Uploads among the oldest 100 that wait because S3 refuses everything from the workers, by its answer.',
    labels: ['answer'],
    samplesOf: ({ refused }) => refused.map(({ answer, count }) => ({ labels: { answer }, value: count })),
  },
  {
    type: 'counter',
    name: 'pasteflow_untold_events_total',
    help: 'Events of webhooks that Postgres has refused, so that no endpoint is told of them.',
    samplesOf: ({ untoldEvents }) => [{ value: untoldEvents }],
  },
  {
    type: 'gauge',
    name: 'pasteflow_stranded_work',
    help: 'Pastes, jobs and deliveries that are not at their end and have no open execution, counted among the oldest 1000 of each state.',
    labels: ['kind'],
    samplesOf: ofKinds(({ stranded }) => stranded),
  },
  {
    type: 'gauge',
    name: 'pasteflow_work_ahead',
    help: 'Open executions that are due, or leased, for longer than they can be, because the clock of Postgres was ahead.',
    labels: ['kind'],
    samplesOf: ofKinds(({ ahead }) => ahead),
  },
  {
    type: 'gauge',
    name: 'pasteflow_paused_seconds',
    help: 'Time for which operators have paused a kind of work, uploads, webhooks or a type of jobs; 0: it is not paused.',
    labels: ['kind'],
    samplesOf: ({ kinds, now }) =>
      kinds.map(({ kind, paused_at: since }) => ({
        labels: { kind },
        value: since === null ? 0 : Math.max(0.001, (now.getTime() - since.getTime()) / 1000),
      })),
  },
  {
    type: 'gauge',
    name: 'pasteflow_enforcement_gaps',
    help: 'Triggers, constraints and functions of the enforcement that are missing, disabled or different in Postgres.',
    samplesOf: ({ enforcementGaps }) => [{ value: enforcementGaps }],
  },
  {
    type: 'gauge',
    name: 'pasteflow_unsafe_postgres_settings',
    help: 'Settings with which Postgres can lose what it has committed (fsync, full_page_writes, synchronous_commit), unless they are allowed.',
    samplesOf: ({ unsafeSettings }) => [{ value: unsafeSettings }],
  },
  {
    type: 'gauge',
    name: 'pasteflow_held_snapshot_seconds',
    help: 'Time for which the oldest snapshot of a session, prepared transaction, slot or standby has kept Postgres from removing dead rows; 0 below a minute.',
    labels: ['holder', 'name'],
    samplesOf: ({ heldSnapshots }) =>
      heldSnapshots.map(({ kind, name, seconds }) => ({ labels: { holder: kind, name }, value: seconds })),
  },
  {
    type: 'gauge',
    name: 'pasteflow_stored_pastes',
    help: 'Pastes that are not deleted, as the quotas count them. Only with quotas.',
    samplesOf: ({ stored }) => (stored === null ? [] : [{ value: stored.pastes }]),
  },
  {
    type: 'gauge',
    name: 'pasteflow_stored_pastes_limit',
    help: 'MAX_PASTES. Beyond it new pastes are answered 507.',
    samplesOf: allowed('pastes'),
  },
  {
    type: 'gauge',
    name: 'pasteflow_stored_bytes',
    help: 'Bytes of the content of all pastes that are not deleted, as the quotas count them. Only with quotas.',
    samplesOf: ({ stored }) => (stored === null ? [] : [{ value: stored.bytes }]),
  },
  {
    type: 'gauge',
    name: 'pasteflow_stored_bytes_limit',
    help: 'MAX_STORED_BYTES. Beyond it new pastes are answered 507.',
    samplesOf: allowed('bytes'),
  },
];

/** The quota of all pastes together, if there is one. */
function allowed(of: 'pastes' | 'bytes'): DatabaseMetric['samplesOf'] {
  return ({ stored }) => [stored?.allowed[of] ?? []].flat().map((value) => ({ value }));
}

/** A sample for each of uploads, jobs and deliveries of webhooks. */
function ofKinds(
  value: (figures: StateFigures['kinds'][number], reading: DatabaseReading) => number,
): DatabaseMetric['samplesOf'] {
  return (reading) =>
    reading.figures.kinds.map((figures) => ({
      labels: { kind: figures.kind },
      value: value(figures, reading),
    }));
}

/** The time spent in a state, for each state that was left. The next state doesn't matter. */
function durations({ statistics }: DatabaseReading): readonly Sample[] {
  const states = Map.groupBy(statistics, ({ machine, from }) => `${machine} ${from}`);
  return [...states.values()].flatMap((leaving) => {
    const [{ machine, from: state }] = leaving as [TransitionStatistic];
    const sum = (of: (each: TransitionStatistic) => number) =>
      leaving.reduce((total, each) => total + of(each), 0);
    const buckets = [...stateDurationBounds, '+Inf'].map((bound, index): Sample => ({
      suffix: '_bucket',
      labels: { le: String(bound), machine, state },
      value: sum(({ buckets: counts }) => counts[index] ?? 0),
    }));
    return [
      ...buckets,
      { suffix: '_sum', labels: { machine, state }, value: sum(({ seconds }) => seconds) },
      { suffix: '_count', labels: { machine, state }, value: buckets.at(-1)?.value ?? 0 },
    ];
  });
}
