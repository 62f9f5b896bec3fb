import type { Metrics } from './metrics.ts';

/** The current use of a connection pool. */
export interface PoolUse {
  readonly idle: number;
  readonly used: number;
  /** Callers that wait for a connection. */
  readonly waiting: number;
  readonly max: number;
}

/** Registers gauges of the sums over a process's pools. */
export function showPools(metrics: Metrics, pools: () => readonly PoolUse[]): void {
  const sum = (of: keyof PoolUse) => pools().reduce((total, pool) => total + pool[of], 0);
  const gauge = { type: 'gauge' } as const;
  metrics.computed(
    {
      ...gauge,
      name: 'postgres_pool_connections',
      help: 'Open connections of this process to Postgres, by state (idle or used).',
      labels: ['state'],
    },
    () => (['idle', 'used'] as const).map((state) => ({ labels: { state }, value: sum(state) })),
  );
  metrics.computed(
    { ...gauge, name: 'postgres_pool_waiting', help: 'Callers that wait for a connection to Postgres.' },
    () => [{ value: sum('waiting') }],
  );
  metrics.computed(
    {
      ...gauge,
      name: 'postgres_pool_max',
      help: 'Maximum number of connections of this process to Postgres.',
    },
    () => [{ value: sum('max') }],
  );
}
