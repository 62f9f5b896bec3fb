import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

/** What a metric is called and which labels it has. Labels have few values: never an id. */
export interface MetricShape<Label extends string> {
  /** As Prometheus wants it: base unit and kind in the name, `paste_upload_seconds`, `pastes_created_total`. */
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly Label[];
}

/** A figure that is computed elsewhere. `suffix` names the part of a histogram. */
export interface Sample {
  readonly suffix?: '_bucket' | '_sum' | '_count';
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Seconds, from a quick SQL statement to a put that nearly times out (10 s). */
const DURATION_BUCKETS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** The metrics of one process; each carries the label `service`. */
export class Metrics {
  readonly #registry = new Registry();

  /** `process: false` leaves out Node's own metrics (memory, event loop, garbage collection): tests don't need them. */
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

  /** Durations in seconds, unless other buckets are given. */
  histogram<Label extends string = never>(
    shape: MetricShape<Label> & { readonly buckets?: readonly number[] },
  ): Histogram<Label> {
    return new Histogram({
      ...this.#options(shape),
      buckets: [...(shape.buckets ?? DURATION_BUCKETS_SECONDS)],
    });
  }

  /** What is counted elsewhere. `read` is called by each scrape: it has the figures at hand, and asks nobody. */
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
    // prom-client's own kinds can't be set to a figure, but its registry asks nothing more of a metric than this.
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
