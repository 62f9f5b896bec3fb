/** In the order of the table in docs/architecture.md. */
export const sweepNames = [
  'relay',
  'reap-executions',
  'cleanup',
  'deletion-watchdog',
  'failed-pastes',
  'dead-letters',
  'jobs',
  'tombstones',
  'reconcile',
  'expired-keys',
  'measure',
] as const;

export type SweepName = (typeof sweepNames)[number];

/** What one run found and did. The names are few and fixed for each sweep: they are labels of a metric. */
export type SweepCounts = Readonly<Record<string, number>>;

/** One of the janitor's periodic passes. Who calls it sees to the schedule, the lock, the log line and the metrics. */
export interface Sweep {
  readonly name: SweepName;
  /**
   * One run. It works in batches, each of which leaves everything right; it ends between two of them once the signal is aborted, and is
   * safe beside itself in another process.
   * @throws when it can't go on, e.g. DependencyUnavailableError; what it has done by then is done
   */
  runOnce(signal: AbortSignal): Promise<SweepCounts>;
}
