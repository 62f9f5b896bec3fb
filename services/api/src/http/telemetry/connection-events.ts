import type { Metrics } from '@pasteflow/runtime';

/**
 * Why Node's HTTP parser, or one of its time limits, ended a connection before there was a request to answer.
 */
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
  readonly #closedIdle;
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
      help: 'New connections that were closed at once because all connections of the process, or of this caller, had a request that was being handled.',
      labels: ['of'],
    });
    this.#closedIdle = metrics.counter({
      name: 'http_connections_closed_idle_total',
      help: 'Connections without a request, or whose client did not read the answer, that were closed to make room for a new one, because the process or this caller had its maximum number of connections.',
      labels: ['of'],
    });
    for (const limit of ['total', 'caller']) {
      this.#dropped.inc({ of: limit }, 0);
      this.#closedIdle.inc({ of: limit }, 0);
    }
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

  dropped(of: 'total' | 'caller'): void {
    this.#dropped.inc({ of });
  }

  closedIdle(of: 'total' | 'caller'): void {
    this.#closedIdle.inc({ of });
  }

  refused(reason: ParserRefusal): void {
    this.#refused.inc({ reason });
  }
}
