import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { MetricsConfig } from '../config/metrics-env.ts';
import type { Component } from '../lifecycle.ts';
import type { Metrics } from '../metrics.ts';
import { listen } from './listen.ts';
import type { Readiness } from './readiness.ts';

/**
 * The port of a service for operators: `/healthz` (the process is alive), `/readyz` (the process can take
 * work) and `/metrics`. It is a service's first component, so that it starts first, stops last and answers
 * while the process drains.
 */
export class HealthServer implements Component {
  readonly name = 'health server';
  readonly #config: MetricsConfig;
  readonly #readiness: Readiness;
  readonly #metrics: Metrics;
  readonly #server = createServer((request, response) => {
    this.#answer(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  #port = 0;

  constructor(config: MetricsConfig, readiness: Readiness, metrics: Metrics) {
    this.#config = config;
    this.#readiness = readiness;
    this.#metrics = metrics;
  }

  /** The port that the server listens on; 0 before the start. */
  get port(): number {
    return this.#port;
  }

  /** @throws StartError when the port is not available */
  async start(): Promise<void> {
    this.#port = await listen(this.#server, { ...this.#config, portVariable: 'METRICS_PORT' });
  }

  async stop(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections(); // no request to this server is worth a wait
    await closed;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.setHeader('Cache-Control', 'no-store');
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('Allow', 'GET, HEAD');
      return json(response, 405, { error: 'method not allowed' });
    }
    switch (request.url?.split('?')[0]) {
      case '/healthz':
        return json(response, 200, { status: 'alive' });
      case '/readyz': {
        const report = await this.#readiness.report();
        return json(response, report.ready ? 200 : 503, report);
      }
      case '/metrics': {
        const text = await this.#metrics.text();
        response.writeHead(200, { 'Content-Type': this.#metrics.contentType }).end(text);
        return;
      }
      default:
        return json(response, 404, { error: 'not found; use /healthz, /readyz or /metrics' });
    }
  }
}

function json(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(`${JSON.stringify(body)}\n`);
}
