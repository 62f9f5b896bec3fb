import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { Address } from '../stack-config.ts';

const SCRIPT = '/.dev/reload.js';
const EVENTS = '/.dev/events';
const TAG = `<script src="${SCRIPT}"></script>\n`;

/**
 * Stands between the clients and the api in development. Requests wait while the api restarts. Pages get a
 * script that reloads them; the Content-Security-Policy of the api allows it, because it is from the same
 * origin.
 */
export class DevServer {
  readonly #api: Address;
  readonly #server = createServer();
  readonly #openPages = new Set<ServerResponse>();
  #release = Promise.withResolvers<void>();
  #isHolding = true;

  constructor(api: Address) {
    this.#api = api;
    for (const event of ['request', 'checkContinue'])
      this.#server.on(event, (req: IncomingMessage, res: ServerResponse) => {
        this.#answer(req, res).catch(() => res.destroy());
      });
  }

  async start(address: Address): Promise<void> {
    this.#server.listen(address);
    await once(this.#server, 'listening');
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  /** From now on requests wait. They wait from the beginning, too. */
  hold(): void {
    if (!this.#isHolding) this.#release = Promise.withResolvers();
    this.#isHolding = true;
  }

  /** The api is ready: sends it the requests that wait, and reloads the open pages. */
  release(): void {
    this.#isHolding = false;
    this.#release.resolve();
    for (const page of this.#openPages) page.write('data: reload\n\n');
  }

  async #answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    if (req.url === SCRIPT) {
      res.writeHead(200, { 'content-type': 'text/javascript' });
      res.end(`new EventSource('${EVENTS}').onmessage = () => location.reload();\n`);
    } else if (req.url === EVENTS) {
      res.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      this.#openPages.add(res);
      res.once('close', () => this.#openPages.delete(res));
    } else {
      await this.#release.promise;
      if (!res.destroyed) this.#forward(req, res);
    }
  }

  #forward(req: IncomingMessage, res: ServerResponse): void {
    const { connection: _, ...headers } = req.headers;
    if (headers.accept?.includes('text/html')) delete headers['accept-encoding']; // the tag can't be added to gzip
    const { host, port } = this.#api;
    // A connection for each request: the api stops at once when it has no idle connections.
    const forwarded = request({ host, port, method: req.method, path: req.url, headers, agent: false });
    forwarded.on('continue', () => res.writeContinue());
    forwarded.on('response', (answer) => void passOn(answer, res).catch(() => res.destroy()));
    forwarded.on('error', ({ message }) => {
      if (res.headersSent) res.destroy();
      else res.writeHead(502).end(`The api did not answer (${message}). Its log is in the terminal.\n`);
    });
    res.once('close', () => forwarded.destroy());
    req.pipe(forwarded);
  }
}

async function passOn(answer: IncomingMessage, res: ServerResponse): Promise<void> {
  const { connection: _, ...headers } = answer.headers;
  const isPage = headers['content-type']?.startsWith('text/html') && !headers['content-encoding'];
  if (isPage) delete headers['content-length'];
  res.writeHead(answer.statusCode ?? 502, answer.statusMessage, headers).flushHeaders();
  await pipeline(answer, res, { end: false });
  res.end(isPage ? TAG : undefined);
}
