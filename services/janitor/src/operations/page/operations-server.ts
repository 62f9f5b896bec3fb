import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { DependencyUnavailableError } from '@pasteflow/domain';
import { Connections } from '@pasteflow/http-kit';
import { listen, type Component, type Logger, type Metrics } from '@pasteflow/runtime';
import { loadAssets, operationsPolicy, refusalPage, type Assets, type OperationsSite } from '@pasteflow/web';
import { Access, assertSameOrigin, NoGroup, originOf, type Visitor } from './access.ts';
import type { Operations } from '../operations.ts';
import { act } from './act.ts';
import { ActionRunner } from './action-runner.ts';
import type { MinuteHistory } from './minutes.ts';
import { OverviewReader } from './overview.ts';
import type { OperationsConfig } from '../../config.ts';
import { OperatorSignIn } from './operator-sign-in.ts';
import { respondWithPage, type PageSources } from './pages.ts';
import { notFound, pageResponse, Refusal, type PageResponse } from './response.ts';

/** A quarter is for each address: a proxy has enough for all operators, whose browsers have six each. */
const MAX_CONNECTIONS = 400;

/** Within which a request must arrive; its form has at most 16 KiB. */
const REQUEST_TIMEOUT_MS = 10_000;
const CHECK_TIMEOUTS_EVERY_MS = 1000;

const headersOfAll = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': operationsPolicy,
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'same-origin', // with `no-referrer`, a form sends no Origin
  'X-Content-Type-Options': 'nosniff',
  'X-Robots-Tag': 'noindex',
};

/** Of whom nothing is known. */
const nobody: Visitor = { actor: '', mayAct: false, signedInAs: null };

interface Asked {
  readonly isRead: boolean;
  readonly origin: string;
  readonly path: string;
  readonly query: URLSearchParams;
}

/** The pages for operators, on a port of their own. */
export class OperationsServer implements Component {
  readonly name = 'operations page';
  readonly #config: OperationsConfig;
  readonly #logger: Logger;
  readonly #sources: PageSources;
  readonly #runner: ActionRunner;
  readonly #assets: Assets = loadAssets();
  readonly #access: Access;
  readonly #signIn: OperatorSignIn | null;
  readonly #base: string;
  readonly #server;

  constructor(
    config: OperationsConfig,
    operations: Operations,
    {
      minutes,
      logger,
      metrics,
    }: { readonly minutes: MinuteHistory; readonly logger: Logger; readonly metrics: Metrics },
  ) {
    this.#config = config;
    this.#logger = logger;
    this.#sources = { operations, minutes, overview: new OverviewReader(operations) };
    this.#runner = new ActionRunner(operations, logger, metrics);
    const { db } = operations;
    const hasTokens = config.token !== null || config.readToken !== null;
    this.#signIn =
      config.oidc === null || config.url === null
        ? null
        : new OperatorSignIn(config.oidc, config.url, hasTokens, { db, logger });
    this.#access = new Access(config, this.#signIn, logger, metrics);
    this.#base = (config.url?.pathname ?? '').replace(/\/$/, '');
    const isTrustedProxy = (): boolean => false;
    const connections = new Connections({ maxConnections: MAX_CONNECTIONS, isTrustedProxy, metrics });
    this.#server = createServer(
      {
        requestTimeout: REQUEST_TIMEOUT_MS,
        headersTimeout: REQUEST_TIMEOUT_MS,
        connectionsCheckingInterval: CHECK_TIMEOUTS_EVERY_MS,
        maxHeaderSize: 16 * 1024,
      },
      (req, res) => {
        connections.handling(res);
        this.#serve(req, res).catch((error: unknown) => res.destroy(error as Error));
      },
    );
    this.#server.on('connection', (socket: Socket) => connections.opened(socket));
  }

  /** @throws StartError when the port is not available */
  async start(): Promise<void> {
    const { host, port } = this.#config;
    const bound = await listen(this.#server, { host, port, portVariable: 'OPS_PORT' });
    this.#logger.info('operations page listens', { host, port: bound });
  }

  /** Also ends the actions that run, between two of their steps. */
  async stop(): Promise<void> {
    if (this.#server.listening) {
      const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
      this.#server.closeAllConnections(); // an action goes on without its request
      await closed;
    }
    await this.#runner.stop();
  }

  async #serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const answer = await this.#answer(req).catch((error: unknown) => this.#failure(req, error, nobody));
    const body = typeof answer.body === 'string' ? Buffer.from(answer.body) : answer.body;
    res.writeHead(answer.status, {
      ...headersOfAll,
      ...answer.headers,
      'Content-Length': String(body.length),
      ...(!req.complete && { Connection: 'close' }), // the rest of a refused body is not read
    });
    res.end(req.method === 'HEAD' ? undefined : body);
  }

  async #answer(req: IncomingMessage): Promise<PageResponse> {
    const origin = originOf(req, this.#config);
    const url = URL.parse(req.url ?? '', origin);
    const path = url === null ? null : this.#below(url.pathname);
    if (url === null || path === null) throw notFound('There is no such page.');
    const isRead = req.method === 'GET' || req.method === 'HEAD';
    if (isRead && path.startsWith('/assets/')) return this.#asset(path.slice('/assets/'.length));
    if (this.#signIn !== null) {
      if (isRead && path === '/session/oidc')
        return await this.#signIn.begin(req, url.searchParams.get('next'));
      if (isRead && path === '/session/oidc/callback')
        return await this.#signIn.finish(req, url.searchParams);
      if (req.method === 'POST' && path === '/session/end') {
        assertSameOrigin(req, origin);
        return await this.#signIn.end(req);
      }
    }
    const visitor = await this.#access.visitorOf(req, url.searchParams.has('token'));
    const query = url.searchParams;
    return await this.#answerTo(visitor, req, { isRead, origin, path, query }).catch((error: unknown) =>
      this.#failure(req, error, visitor),
    );
  }

  async #answerTo(
    visitor: Visitor,
    req: IncomingMessage,
    { isRead, origin, path, query }: Asked,
  ): Promise<PageResponse> {
    const site = this.#site(visitor);
    if (isRead) return await respondWithPage(this.#sources, site, { path, query });
    if (req.method !== 'POST' || !path.startsWith('/act/'))
      throw new Refusal(
        405,
        { title: 'Not allowed', detail: 'This method does not exist here.' },
        { Allow: 'GET, HEAD' },
      );
    assertSameOrigin(req, origin);
    const doing = { operations: this.#sources.operations, runner: this.#runner };
    return await act(doing, site, visitor, path.slice('/act/'.length), req);
  }

  /** A proxy may leave the prefix in the path, or take it away. */
  #below(path: string): string | null {
    if (this.#base === '' || !(path === this.#base || path.startsWith(`${this.#base}/`))) return path;
    return path.slice(this.#base.length) || '/';
  }

  #asset(file: string): PageResponse {
    const asset = this.#assets.find(file);
    if (asset === null) throw notFound('Reload the page.');
    const headers = { 'Content-Type': asset.type, 'Cache-Control': 'public, max-age=31536000, immutable' };
    return { status: 200, headers, body: asset.bytes };
  }

  #failure(req: IncomingMessage, error: unknown, visitor: Visitor): PageResponse {
    const site = this.#site(error instanceof NoGroup ? error.visitor : visitor);
    if (error instanceof Refusal)
      return pageResponse(
        refusalPage(site, { title: error.title, detail: error.message, links: error.links }),
        error.status,
        error.headers,
      );
    const isDown = error instanceof DependencyUnavailableError;
    this.#logger[isDown ? 'warn' : 'error']('page for operators failed', {
      method: req.method,
      error,
    });
    const detail = isDown ? error.message : 'The janitor failed. Its log says why.';
    return pageResponse(refusalPage(site, { title: 'Not available', detail, links: [] }), isDown ? 503 : 500);
  }

  #site({ mayAct, signedInAs }: Visitor): OperationsSite {
    const asset = (name: string) => `${this.#base}/assets/${this.#assets.fileOf(name)}`;
    return { base: this.#base, asset, mayAct, signedInAs, counts: null };
  }
}
