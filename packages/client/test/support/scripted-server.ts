import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** Does with a request what its test wants; answering may be left out. */
export type Handler = (req: IncomingMessage, res: ServerResponse) => void | Promise<void>;

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  /** Of this request's arrival, in ms. */
  readonly at: number;
}

/** An HTTP server on 127.0.0.1 that plays the api's part, one handler a request; the last one stays. */
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

  /** Again after a stop: on the same port. */
  async start(): Promise<void> {
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Forgets what was, and answers like this from now on. */
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

/** Reads the request whole and answers. */
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

/** Takes the request and resets the connection. */
export const reset: Handler = async (req) => {
  await buffer(req).catch(() => {});
  req.socket.resetAndDestroy();
};

/** Takes the request, and never answers. */
export const silence: Handler = () => {};
