import { createServer, type IncomingMessage, type ServerResponse, type Server } from 'node:http';
import { once } from 'node:events';
import { BlockList, isIP, type AddressInfo } from 'node:net';
import type { z } from 'zod';
import { type Component, StartError } from '../lifecycle.ts';
import type { Metrics } from '../metrics.ts';
import type { Readiness } from './readiness.ts';
import { groups, setting } from '../config/load-config.ts';
import { port, text } from '../config/variables.ts';

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

/**
 * Where /healthz, /readyz and /metrics are served. Each service has its own default port, so that all three
 * run on one host.
 */
export function metricsEnv(defaultPort: number): z.ZodType<{ readonly host: string; readonly port: number }> {
  return groups({
    host: setting('METRICS_HOST', text('an address to listen on').default('127.0.0.1')),
    port: setting('METRICS_PORT', port().default(defaultPort)),
  });
}

type MetricsConfig = z.output<ReturnType<typeof metricsEnv>>;

/**
 * Starts to listen, and returns the port.
 * @throws StartError with one sentence, when the address is in use, is not allowed or is not an address of
 * this machine
 */
export async function listen(
  server: Server,
  options: {
    readonly host: string;
    /** 0: any free port. */
    readonly port: number;
    /** The variable that sets the port, for the error message: `API_PORT`. */
    readonly portVariable: string;
  },
): Promise<number> {
  const { host, port, portVariable } = options;
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    throw asStartError(error, `${host}:${port}`, portVariable) ?? error;
  }
  return (server.address() as AddressInfo).port;
}

function asStartError(error: unknown, address: string, portVariable: string): StartError | undefined {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return new StartError(
        `${address} is in use by another program. Stop that program, or set ${portVariable} to another port.`,
      );
    case 'EACCES':
      return new StartError(
        `This user may not listen on ${address}. Set ${portVariable} to a port above 1023.`,
      );
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new StartError(
        `${address} is not an address of this machine. Correct the host that belongs to ${portVariable}.`,
      );
    default:
      return undefined;
  }
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** Whether only this machine reaches the host: a name or an address, without brackets. */
export function isLoopback(host: string): boolean {
  const version = isIP(host);
  if (version === 0) return host.toLowerCase() === 'localhost';
  return loopback.check(host, version === 4 ? 'ipv4' : 'ipv6');
}
