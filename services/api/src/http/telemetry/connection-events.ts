import type { Metrics } from '@pasteflow/runtime';

/** Why Node's HTTP parser, or one of its time limits, ended a connection before there was a request to answer. */
export type ParserRefusal =
  | 'connect'
  | 'headers_too_large'
  | 'chunk_extensions_too_large'
  | 'incomplete'
  | 'malformed'
  | 'timeout'
  | 'unused';

const refusals: readonly ParserRefusal[] = [
  'connect',
  'headers_too_large',
  'chunk_extensions_too_large',
  'incomplete',
  'malformed',
  'timeout',
  'unused',
];

export interface ConnectionEventsOptions {
  readonly metrics: Metrics;
  readonly maxConnections: number;
}

/** The events of connections. Strangers cause them at any rate, so they are counted and not logged. */
export class ConnectionEvents {
  readonly #refused;
  readonly #dropped;
  #open = 0;

  constructor({ metrics, maxConnections }: ConnectionEventsOptions) {
    metrics.computed(
      {
        name: 'http_connections',
        help: 'Connections of clients, and their limit.',
        type: 'gauge',
        labels: ['kind'],
      },
      () => [
        { labels: { kind: 'open' }, value: this.#open },
        { labels: { kind: 'limit' }, value: maxConnections },
      ],
    );
    this.#dropped = metrics.counter({
      name: 'http_connections_dropped_total',
      help: 'Connections that were closed at once because the process had its maximum number of connections.',
    });
    this.#refused = metrics.counter({
      name: 'http_parser_refusals_total',
      help: 'Requests that the HTTP parser or its time limits refused, by reason.',
      labels: ['reason'],
    });
    for (const reason of refusals) this.#refused.inc({ reason }, 0);
  }

  opened(): void {
    this.#open += 1;
  }

  closed(): void {
    this.#open -= 1;
  }

  dropped(): void {
    this.#dropped.inc();
  }

  refused(reason: ParserRefusal): void {
    this.#refused.inc({ reason });
  }
}
