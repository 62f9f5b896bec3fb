import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

/** A metric's name and labels. A label has few values, and never an id. */
export interface MetricShape<Label extends string> {
  /**
   * By the conventions of Prometheus, with base unit and kind: `paste_upload_seconds`,
   * `pastes_created_total`.
   */
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly Label[];
}

/** A value that is computed elsewhere. `suffix` names the part of a histogram. */
export interface Sample {
  readonly suffix?: '_bucket' | '_sum' | '_count';
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

/** In seconds, from a fast SQL statement to a put that is close to its timeout (10 s). */
const DURATION_BUCKETS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** The metrics of one process. Each has the label `service`. */
export class Metrics {
  readonly #registry = new Registry();

  /**
   * `process: false` leaves out Node's own metrics (memory, event loop, garbage collection), which tests do
   * not need.
   */
  constructor(service: string, options: { readonly process?: boolean } = {}) {
    this.#registry.setDefaultLabels({ service });
    if (options.process ?? true) collectDefaultMetrics({ register: this.#registry });
  }

  counter<Label extends string = never>(shape: MetricShape<Label>): Counter<Label> {
    return new Counter(this.#options(shape));
  }

  gauge<Label extends string = never>(shape: MetricShape<Label>): Gauge<Label> {
    return new Gauge(this.#options(shape));
  }

  /** Default buckets: durations in seconds. */
  histogram<Label extends string = never>(
    shape: MetricShape<Label> & { readonly buckets?: readonly number[] },
  ): Histogram<Label> {
    return new Histogram({
      ...this.#options(shape),
      buckets: [...(shape.buckets ?? DURATION_BUCKETS_SECONDS)],
    });
  }

  /**
   * For values that are counted elsewhere. `read` runs on each scrape, so it must only return values that are
   * in memory.
   */
  computed(
    shape: MetricShape<string> & { readonly type: 'counter' | 'gauge' | 'histogram' },
    read: () => readonly Sample[],
  ): void {
    const { name, help, type } = shape;
    const samples = () =>
      read().map(({ suffix = '', labels = {}, value }) => ({
        metricName: `${name}${suffix}`,
        labels,
        value,
      }));
    const metric = { name, help, type, get: () => Promise.resolve({ name, help, type, values: samples() }) };
    // The metric classes of prom-client cannot be set to a value, but its registry requires only these
    // fields.
    this.#registry.registerMetric(metric as unknown as Counter);
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** All metrics in Prometheus' text format. */
  text(): Promise<string> {
    return this.#registry.metrics();
  }

  #options<Label extends string>(shape: MetricShape<Label>) {
    return {
      name: shape.name,
      help: shape.help,
      labelNames: [...(shape.labels ?? [])],
      registers: [this.#registry],
    };
  }
}

/** The current use of a connection pool. */
export interface PoolUse {
  readonly idle: number;
  readonly used: number;
  /** Callers that wait for a connection. */
  readonly waiting: number;
  readonly max: number;
}

/** Registers gauges of the sums over a process's pools. */
export function registerPoolMetrics(metrics: Metrics, pools: () => readonly PoolUse[]): void {
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
