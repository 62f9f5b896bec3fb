import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { Server as NetServer, type Socket } from 'node:net';
import { setImmediate as nextPoll } from 'node:timers/promises';
import { listen, runInSpan, sleep, type Component } from '@pasteflow/runtime';
import { handleClientError } from './client-error.ts';
import type { RequestEvents } from '../telemetry/request-events.ts';
import { beginRequestSpan, endRequestSpan } from '../telemetry/request-span.ts';
import { respondWithError } from '../response/respond-with-error.ts';

export interface ApiServerOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** How long a request may take to arrive, headers and body. */
  readonly requestTimeoutMs: number;
  /** How long running requests may take after the stop; then their connections are cut. */
  readonly stopDeadlineMs: number;
  /**
   * For so long after the stop idle connections are kept, and every answer says `Connection: close`: whoever
   * was about to use one still gets an answer, where http.Server.close() would reset it at once.
   */
  readonly stopNoticeMs: number;
  readonly events: RequestEvents;
}

/**
 * Load balancers keep idle connections for 75 s, as deployed, so that a wait of 60 s doesn't end in their 504: closing before them would lose a
 * request that is just under way.
 */
const KEEP_ALIVE_MS = 80_000;

/**
 * A connection on which nothing moves, not even a download, is cut: whoever holds it holds a connection to S3
 * too.
 */
const IDLE_MS = 120_000;

/** The HTTP server: timeouts, errors below HTTP, and a stop that drops no request. */
export class ApiServer implements Component {
  readonly name = 'http server';
  readonly #options: ApiServerOptions;
  readonly #server: Server;
  readonly #open = new Set<ServerResponse>();
  readonly #latest = new WeakMap<Duplex, ServerResponse>();
  #app: RequestListener | undefined;
  #port: number;
  #stopping = false;
  #closingIdle = false;

  constructor(options: ApiServerOptions) {
    this.#options = options;
    this.#port = options.port;
    // headersTimeout stays Node's own, 60 s or requestTimeout where that is less: above requestTimeout
    // neither of them fires (seen with 24.21), and it needn't be above keepAliveTimeout any more, since it
    // counts from a request's first byte.
    this.#server = createServer({
      requestTimeout: options.requestTimeoutMs,
      connectionsCheckingInterval: Math.min(1000, options.requestTimeoutMs / 2),
      requireHostHeader: false, // the app answers that, with problem details
    });
    this.#server.keepAliveTimeout = KEEP_ALIVE_MS;
    this.#server.timeout = IDLE_MS;
    this.#server.closeIdleConnections = this.#closeIdle(this.#server.closeIdleConnections.bind(this.#server));
    const onRequest: RequestListener = (req, res) => this.#handle(req, res);
    // The app reads bodies, and says 100 Continue when it does: so a body that is refused is never sent.
    this.#server.on('request', onRequest).on('checkContinue', onRequest).on('checkExpectation', onRequest);
    this.#server.on('clientError', (error, socket) =>
      handleClientError(error, socket as Socket, this.#latest.get(socket), (res, requestError) =>
        respondWithError(res.req, res, requestError, options.events, {
          // A slow sender is still sending; for anything else the parser has given up.
          rest: requestError.code === 'request_timeout' ? 'coming' : 'lost',
        }),
      ),
    );
  }

  /** The port that was taken; before the start, the configured one. */
  get port(): number {
    return this.#port;
  }

  /** Before the start: who answers the requests. */
  serve(app: RequestListener): void {
    this.#app = app;
  }

  /** @throws StartError when the port can't be had */
  async start(): Promise<void> {
    const { host, port } = this.#options;
    this.#port = await listen(this.#server, { host, port, portVariable: 'API_PORT' });
  }

  async stop(): Promise<void> {
    if (!this.#server.listening) return;
    const deadline = setTimeout(() => this.#server.closeAllConnections(), this.#options.stopDeadlineMs);
    await nextPoll(); // closed right after libuv has accepted what had come: what it hasn't accepted is reset
    const closed = new Promise<void>((resolve) =>
      NetServer.prototype.close.call(this.#server, () => resolve()),
    );
    // Not before: whoever leaves an old connection would wait on a new one that is never accepted.
    this.#stopping = true;
    for (const res of this.#open) closeAfter(res);
    const notice = new AbortController();
    await Promise.race([closed, sleep(this.#options.stopNoticeMs, notice.signal)]);
    notice.abort();
    this.#closingIdle = true;
    this.#server.close(); // the port is closed already: this ends what is idle, and the timeouts' timer
    await closed;
    clearTimeout(deadline);
  }

  /** To Node a connection is idle once its answer has been written, sent or not: long ones would be cut short. They ask again when they are sent. */
  #closeIdle(close: () => void): () => void {
    return () => {
      if (![...this.#open].some(({ writableEnded }) => writableEnded)) close();
    };
  }

  #handle: RequestListener = (req, res) => {
    this.#open.add(res);
    this.#latest.set(req.socket, res);
    const span = beginRequestSpan(req);
    if (this.#stopping) closeAfter(res);
    res.once('close', () => {
      this.#open.delete(res);
      runInSpan(span, () => this.#options.events.ended(req, res));
      endRequestSpan(span, req, res);
      // An answer that had begun before the stop has left its connection open.
      if (this.#closingIdle) setImmediate(() => this.#server.closeIdleConnections());
    });
    runInSpan(span, () => this.#app?.(req, res));
  };
}

function closeAfter(res: ServerResponse): void {
  if (!res.headersSent) res.shouldKeepAlive = false;
}
