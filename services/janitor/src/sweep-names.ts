/** In the order of the table in docs/architecture.md. */
export const sweepNames = [
  'relay',
  'reap-executions',
  'rescue-stranded',
  'cleanup',
  'deletion-watchdog',
  'erasures',
  'failed-pastes',
  'dead-letters',
  'jobs',
  'tombstones',
  'reconcile',
  'expired-keys',
  'measure',
] as const;

/**
 * The daily sweeps that delete. They run an interval after their last success in any janitor, and never just
 * because a janitor starts: a mistake in a new deployment must not delete anything before somebody can notice
 * it.
 */
export const dailySweeps: ReadonlySet<SweepName> = new Set([
  'failed-pastes',
  'jobs',
  'tombstones',
  'reconcile',
]);

export type SweepName = (typeof sweepNames)[number];
