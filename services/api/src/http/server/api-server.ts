import {
  createServer,
  type RequestListener,
  type Server,
  type ServerResponse,
  type IncomingMessage,
} from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setImmediate as nextPoll } from 'node:timers/promises';
import type { Connections } from '@pasteflow/http-kit';
import { listen, runInSpan, sleep, type Component, type Metrics } from '@pasteflow/runtime';
import type { Duplex } from 'node:stream';
import { countRefusals, handleClientError, refuseConnect, type ClientErrorOptions } from './client-error.ts';
import { beginRequestSpan, endRequestSpan, type RequestEvents } from './request-events.ts';
import { respondWithError } from '../answers/respond-with-error.ts';

export interface ApiServerOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** How long the headers and the body of a request may take to arrive. */
  readonly requestTimeoutMs: number;
  /** How long running requests may take after the stop began; then their connections are cut. */
  readonly stopDeadlineMs: number;
  /**
   * How long idle connections are kept after the stop began, while every answer says `Connection: close`. A
   * client that is about to use one still gets an answer; http.Server.close() would reset it at once.
   */
  readonly stopNoticeMs: number;
  readonly events: RequestEvents;
  readonly metrics: Metrics;
  readonly connections: Connections;
  /** From headersOfEveryAnswer. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Longer than the 75 s for which the deployed load balancers keep idle connections (so that a wait of 60 s
 * does not end in their 504). Closing before they do would lose a request that is being sent.
 */
const KEEP_ALIVE_MS = 80_000;

/** A connection on which nothing is sent or received for this long is cut. */
const IDLE_MS = 120_000;

/** For up to 16 KiB of headers, and for a new connection on which nothing is sent. */
const HEADERS_MS = 20_000;

/** Node looks at all connections to close the idle ones: 0.8 ms with 4,000, and after each answer too often. */
const CLOSE_IDLE_EVERY_MS = 50;

/** The HTTP server: timeouts, connection errors, and a stop that drops no request. */
export class ApiServer implements Component {
  readonly name = 'http server';
  readonly #options: ApiServerOptions;
  readonly #server: Server;
  readonly #open = new Set<ServerResponse>();
  readonly #pipelined = new PipelinedRequests();
  #app: RequestListener | undefined;
  #port: number;
  #stopping = false;
  #closingIdle = false;
  #nextClose: NodeJS.Timeout | undefined;

  constructor(options: ApiServerOptions) {
    this.#options = options;
    this.#port = options.port;
    // Above requestTimeout headersTimeout would not fire (seen with 24.21). It need not exceed
    // keepAliveTimeout, because it counts from the first byte of a request.
    this.#server = createServer({
      requestTimeout: options.requestTimeoutMs,
      headersTimeout: Math.min(HEADERS_MS, options.requestTimeoutMs),
      connectionsCheckingInterval: Math.min(1000, options.requestTimeoutMs / 2),
      requireHostHeader: false, // the app refuses such a request, with problem details
    });
    // Node would drop the headers after the 2,000th without a word, for example Authorization. Their bytes
    // are limited.
    this.#server.maxHeadersCount = 0;
    this.#server.keepAliveTimeout = KEEP_ALIVE_MS;
    this.#server.timeout = IDLE_MS;
    this.#server.closeIdleConnections = this.#closeIdle(this.#server.closeIdleConnections.bind(this.#server));
    const onRequest: RequestListener = (req, res) => this.#handle(req, res);
    // The app sends 100 Continue when it reads a body, so a refused body is never sent.
    this.#server.on('request', onRequest).on('checkContinue', onRequest).on('checkExpectation', onRequest);
    this.#server.on('connection', (socket: Socket) => options.connections.opened(socket));
    const refusals: ClientErrorOptions = {
      headers: options.headers,
      refused: countRefusals(options.metrics),
      respond: (res, requestError) =>
        respondWithError(res.req, res, requestError, options.events, {
          // A slow sender is still sending; after any other error the parser has given up.
          rest: requestError.code === 'request_timeout' ? 'coming' : 'lost',
        }),
    };
    this.#server.on('connect', (_req, socket) => refuseConnect(socket, refusals));
    this.#server.on('clientError', (error, socket) =>
      handleClientError(error, socket as Socket, this.#pipelined.pending(socket), refusals),
    );
  }

  /** The port in use; before the start, the configured one. */
  get port(): number {
    return this.#port;
  }

  /** Sets what answers the requests; call it before the start. */
  serve(app: RequestListener): void {
    this.#app = app;
  }

  /** @throws StartError when the port is unavailable */
  async start(): Promise<void> {
    const { host, port } = this.#options;
    this.#port = await listen(this.#server, { host, port, portVariable: 'API_PORT' });
  }

  async stop(): Promise<void> {
    if (!this.#server.listening) return;
    const deadline = setTimeout(() => this.#server.closeAllConnections(), this.#options.stopDeadlineMs);
    await nextPoll(); // lets libuv accept the pending connections; those that are not accepted are reset
    const closed = new Promise<void>((resolve) =>
      NetServer.prototype.close.call(this.#server, () => resolve()),
    );
    // Only now: a client that left its old connection earlier would wait on a new one that is never accepted.
    this.#stopping = true;
    for (const res of this.#open) closeAfter(res);
    const notice = new AbortController();
    await Promise.race([closed, sleep(this.#options.stopNoticeMs, notice.signal)]);
    notice.abort();
    this.#closingIdle = true;
    this.#server.close(); // the port is closed already; this ends idle connections and the timer of the timeouts
    await closed;
    clearTimeout(this.#nextClose);
    clearTimeout(deadline);
  }

  /**
   * Node counts a connection as idle once its answer was written, even if it is not sent yet. So closing
   * waits for answers that are being sent.
   */
  #closeIdle(close: () => void): () => void {
    return () => {
      if (![...this.#open].some(({ writableEnded }) => writableEnded)) close();
    };
  }

  #closeNext = (): void => {
    this.#nextClose = undefined;
    this.#server.closeIdleConnections();
  };

  #handle: RequestListener = (req, res) => {
    this.#open.add(res);
    const { socket } = req;
    const span = beginRequestSpan(req);
    if (this.#stopping) closeAfter(res);
    this.#options.connections.handling(res);
    res.once('close', () => {
      this.#open.delete(res);
      this.#pipelined.leave(socket, res);
      runInSpan(span, () => this.#options.events.ended(req, res));
      endRequestSpan(span, req, res);
      // An answer that began before the stop has left its connection open.
      if (this.#closingIdle) this.#nextClose ??= setTimeout(this.#closeNext, CLOSE_IDLE_EVERY_MS);
    });
    this.#pipelined.take(req, res, () => runInSpan(span, () => this.#app?.(req, res)));
  };
}

function closeAfter(res: ServerResponse): void {
  if (!res.headersSent) res.shouldKeepAlive = false;
}

/** Clients that pipeline send some tens of requests. 64 KiB, which Node parses at a time, hold a thousand. */
const MAX_WAITING = 100;

/**
 * Lets the requests of a connection begin one after the other. Node hands over each request as soon as its
 * headers have arrived, and keeps the answers in memory until the earlier ones are sent: one write of 64 KiB
 * could start a thousand requests.
 */
export class PipelinedRequests {
  readonly #last = new Map<Duplex, ServerResponse>();
  readonly #waiting = new WeakMap<Duplex, number>();

  /** The answer to the last request of the connection; undefined: no request waits for an answer. */
  pending(socket: Duplex): ServerResponse | undefined {
    return this.#last.get(socket);
  }

  /** Call it when an answer has closed: an idle connection keeps no request and no body. */
  leave(socket: Duplex, res: ServerResponse): void {
    if (this.#last.get(socket) === res) this.#last.delete(socket);
  }

  /** Calls `begin` when the earlier requests have been answered; never if the connection ends before. */
  take(req: IncomingMessage, res: ServerResponse, begin: () => void): void {
    const { socket } = req;
    const previous = this.#last.get(socket);
    this.#last.set(socket, res);
    if (previous === undefined || previous.closed) {
      begin();
      return;
    }
    const waiting = (this.#waiting.get(socket) ?? 0) + 1;
    this.#waiting.set(socket, waiting);
    if (waiting > MAX_WAITING) socket.destroy();
    previous.once('close', () => {
      this.#waiting.set(socket, (this.#waiting.get(socket) ?? 1) - 1);
      if (!socket.destroyed && !res.closed) begin();
    });
  }
}
