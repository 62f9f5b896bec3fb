import type { Metrics } from './metrics.ts';

/** A pool of connections at this moment. */
export interface PoolUse {
  readonly idle: number;
  readonly used: number;
  /** Who waits for a connection. */
  readonly waiting: number;
  readonly max: number;
}

/** Shows a process's pools, added up. */
export function showPools(metrics: Metrics, pools: () => readonly PoolUse[]): void {
  const sum = (of: keyof PoolUse) => pools().reduce((total, pool) => total + pool[of], 0);
  const gauge = { type: 'gauge' } as const;
  metrics.computed(
    {
      ...gauge,
      name: 'postgres_pool_connections',
      help: 'Connections to Postgres that this process has, by whether they are in use.',
      labels: ['state'],
    },
    () => (['idle', 'used'] as const).map((state) => ({ labels: { state }, value: sum(state) })),
  );
  metrics.computed(
    { ...gauge, name: 'postgres_pool_waiting', help: 'Who waits for a connection to Postgres.' },
    () => [{ value: sum('waiting') }],
  );
  metrics.computed(
    { ...gauge, name: 'postgres_pool_max', help: 'Connections to Postgres that this process may have.' },
    () => [{ value: sum('max') }],
  );
}
