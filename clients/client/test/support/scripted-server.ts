import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** Handles one request; it may leave the request unanswered. */
export type Handler = (req: IncomingMessage, res: ServerResponse) => void | Promise<void>;

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  /** The time of arrival, in ms. */
  readonly at: number;
}

/**
 * An HTTP server on 127.0.0.1 in place of the api, with one handler for each request. The last handler stays.
 */
export class ScriptedServer {
  readonly requests: SeenRequest[] = [];
  readonly #server: Server;
  #script: Handler[] = [];

  #port = 0;

  constructor() {
    this.#server = createServer((req, res) => {
      const { method = '', url = '', headers } = req;
      this.requests.push({ method, path: url, headers, at: performance.now() });
      const handler = this.#script.length > 1 ? this.#script.shift() : this.#script[0];
      void handler?.(req, res);
    });
  }

  /** Starts again after a stop, on the same port. */
  async start(): Promise<void> {
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Forgets the received requests, and uses these handlers from now on. */
  script(...handlers: Handler[]): void {
    this.requests.length = 0;
    this.#script = handlers;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

type Headers = Record<string, string>;

/** Reads the whole request and responds. */
export function answer(status: number, body: string | Buffer = '', headers: Headers = {}): Handler {
  return async (req, res) => {
    await buffer(req).catch(() => {});
    res.writeHead(status, { 'content-length': String(Buffer.byteLength(body)), ...headers }).end(body);
  };
}

export function json(status: number, body: object): Handler {
  return answer(status, JSON.stringify(body), { 'content-type': 'application/json' });
}

export function problem(status: number, code: string, headers: Headers = {}, more: object = {}): Handler {
  const body = {
    type: 'about:blank',
    title: `The title of ${code}`,
    status,
    detail: 'What to do.',
    instance: '/',
    code,
  };
  return answer(status, JSON.stringify({ ...body, ...more }), {
    'content-type': 'application/problem+json',
    ...headers,
  });
}

/** Receives the request and resets the connection. */
export const reset: Handler = async (req) => {
  await buffer(req).catch(() => {});
  req.socket.resetAndDestroy();
};

/** Receives the request and never responds. */
export const silence: Handler = () => {};
