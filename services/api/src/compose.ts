import { Connections } from '@pasteflow/http-kit';
import { jobTypes, type JobType } from '@pasteflow/jobs';
import { randomShortCode, showWebhookKey, watchPostgres, type ShortCodes } from '@pasteflow/service-kit';
import { createDatabase, poolUse, rateLimitStore, type DatabaseOptions } from '@pasteflow/postgres';
import {
  HealthServer,
  runOutsideSpans,
  registerPoolMetrics,
  type Component,
  type ServiceContext,
} from '@pasteflow/runtime';
import { createObjectStore, DIRECT_REFUSED } from '@pasteflow/s3';
import { TokenGuesses } from './http/callers/token-guesses.ts';
import { buildApp } from './app.ts';
import { BodyBudget } from './http/limits/body-budget.ts';
import { DownloadBudget } from './http/limits/download-budget.ts';
import { WaitingPlaces } from './http/limits/waiting-places.ts';
import { composeDispatchers } from './compose-dispatchers.ts';
import type { Config } from './config.ts';
import type { ApiContext } from './context.ts';
import { LastWrite } from './storage/last-write.ts';
import { createIsTrustedProxy } from './http/request/client-address.ts';
import { ApiServer } from './http/server/api-server.ts';
import type { SendOptions } from './http/answers/send-paced.ts';
import { createRequireHost } from './http/request/host.ts';
import { headersOfEveryAnswer } from './http/answers/response-headers.ts';
import { RequestEvents } from './http/server/request-events.ts';
import { composeOidc } from './sessions/identity-env.ts';
import { Idempotency } from './http/idempotency/idempotency.ts';
import { createFindUser } from './sessions/identify.ts';
import { SessionCookie } from './http/callers/session-cookie.ts';
import { ArrivalMisses } from './http/limits/arrival-misses.ts';
import { Limits } from './http/limits/limits.ts';
import { jobTypesOf } from './job-types.ts';
import { composePages } from './http/pages/page.ts';
import { composeLive, type LiveTimings } from './live/live.ts';
import { PasteInserts } from './storage/paste-inserts.ts';
import { createFindPaste, createUseToken } from './storage/share-look-ups.ts';
import { ContentCache } from './storage/content-cache.ts';
import { FirstWords } from './storage/first-words.ts';
import { tracedReads } from './storage/stored-content.ts';

/** Most uploads are done by then. Such a read holds one of MAX_WAITERS. */
const CONTENT_WAIT_MS = 1000;

/** What tests replace. */
export interface Overrides {
  readonly jobTypes?: ReadonlyMap<string, JobType>;
  readonly newShortCode?: ShortCodes;
  readonly onStatement?: NonNullable<DatabaseOptions['onStatement']>;
  readonly stopDeadlineMs?: number;
  readonly stopNoticeMs?: number;
  readonly oidcCooldownMs?: number;
  readonly oidcRequestTimeoutMs?: number;
  readonly live?: LiveTimings;
  readonly s3Sockets?: number;
  readonly streamsPerCaller?: number;
  readonly connectionsBesideWaiters?: number;
  readonly slowGroupMs?: number;
  readonly s3RequestTimeoutMs?: number;
  readonly sending?: Pick<SendOptions, 'tickMs' | 'maxCreditMs'>;
  readonly contentWaitMs?: number;
  readonly firstWordsWaitMs?: number;
  readonly minHeldMs?: number;
}

export interface ComposedApi {
  /** In the order in which they start. */
  readonly components: readonly Component[];
  readonly server: ApiServer;
  readonly health: HealthServer;
}

/** A request's statement takes milliseconds. One that takes longer than this is answered with 503. */
const STATEMENT_TIMEOUT_MS = 10_000;

/** Until S3 answers with headers. A read is retried once, as a client would do. */
const S3_REQUEST_TIMEOUT_MS = 5000;
const S3_MAX_ATTEMPTS = 2;

const S3_SOCKETS = 200;

/** A tenth of those connections, in one process. */
const STREAMS_PER_CALLER = 20;

/** For the clients that don't wait: those that wait never take all connections. */
const CONNECTIONS_BESIDE_WAITERS = 2000;

/** The share of the connections to S3 that streams may hold. The others serve short contents and probes. */
const STREAMS_SHARE = 0.75;

/** A stop may take 10 s; the other 2 s are for the components that stop after the HTTP server. */
const STOP_DEADLINE_MS = 8000;

/** Busy clients use an idle connection again within milliseconds. */
const STOP_NOTICE_MS = 500;

export function composeApi(context: ServiceContext<Config>, overrides: Overrides = {}): ComposedApi {
  const { config, logger, metrics, readiness, instance, tracing } = context;
  const { http, aws } = config;
  const { s3Sockets = S3_SOCKETS } = overrides;
  const db = createDatabase({
    url: config.database.url,
    preparedStatements: config.database.preparedStatements,
    applicationName: instance,
    maxConnections: config.database.poolSize,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    onConnectionError: (error) =>
      runOutsideSpans(() => logger.warn('connection to Postgres lost', { error })),
    traceStatement: tracing.onStatement,
    onStatement: overrides.onStatement,
  });
  registerPoolMetrics(metrics, () => [poolUse(db)]);
  const store = createObjectStore({
    region: aws.region,
    endpoint: aws.s3Endpoint,
    publicEndpoint: http.s3PublicEndpoint,
    bucket: config.bucket,
    maxAttempts: S3_MAX_ATTEMPTS,
    requestTimeoutMs: overrides.s3RequestTimeoutMs ?? S3_REQUEST_TIMEOUT_MS,
    maxSockets: s3Sockets,
    requests: aws.requests,
    onDirectRefused: (error) => logger.warn(DIRECT_REFUSED, { error }),
  });
  const lastWrite = new LastWrite(metrics);
  const inserts = new PasteInserts({
    db,
    lastWrite,
    newShortCode: overrides.newShortCode ?? randomShortCode,
    slowMs: overrides.slowGroupMs,
    ...config.slugLimit,
    quotas: config.quotas,
  });
  const dispatchers = composeDispatchers(config, { db, logger });
  const postgresChecks = watchPostgres(context, db);
  showWebhookKey(metrics, config.webhooks);
  readiness.addCheck('postgres_writes', () => lastWrite.requireWritten(), { required: false });
  readiness.addCheck('s3', (signal) => store.ping(signal), { required: false, paid: true });
  readiness.addCheck('sqs', () => dispatchers.ping(), { required: false, paid: true });

  const publicUrl = (): string => http.publicUrl ?? `http://${asUrlHost(http.host)}:${server.port}`;
  const oidc = composeOidc(config.identity.oidc, {
    db,
    logger,
    publicUrl,
    cooldownMs: overrides.oidcCooldownMs,
    requestTimeoutMs: overrides.oidcRequestTimeoutMs,
  });
  const sessions = new SessionCookie(http.publicUrl);
  const limits = new Limits({ limits: config.limits, store: rateLimitStore(db), logger, metrics });
  const live = composeLive({
    db,
    maxWaiters: config.clients.maxWaiters,
    places: new WaitingPlaces(Math.max(1, Math.floor(config.clients.maxWaiters / 50)), metrics),
    logger,
    metrics,
    ...overrides.live,
  });
  const events = new RequestEvents(logger, metrics);
  const headers = headersOfEveryAnswer(http.publicUrl);
  const { connectionsBesideWaiters = CONNECTIONS_BESIDE_WAITERS } = overrides;
  const server = new ApiServer({
    host: http.host,
    port: http.port,
    requestTimeoutMs: http.requestTimeoutMs,
    metrics,
    connections: new Connections({
      maxConnections: config.clients.maxWaiters + connectionsBesideWaiters,
      isTrustedProxy: createIsTrustedProxy(http.trustProxy),
      metrics,
    }),
    events,
    headers,
    stopDeadlineMs: overrides.stopDeadlineMs ?? STOP_DEADLINE_MS,
    stopNoticeMs: overrides.stopNoticeMs ?? STOP_NOTICE_MS,
  });
  const reads = tracedReads(store);
  const useToken = createUseToken(db, overrides.slowGroupMs);
  const api: ApiContext = {
    logger,
    events,
    readiness,
    isDevelopment: config.isDevelopment,

    db,
    findPaste: createFindPaste(db, overrides.slowGroupMs),
    actor: instance,
    inserts,
    idempotency: new Idempotency({
      db,
      retentionSeconds: config.idempotencyRetentionSeconds,
      logger,
    }),
    store: reads,
    cache: new ContentCache({ maxBytes: config.downloads.cacheBytes, metrics }),
    firstWords: new FirstWords(reads, overrides.firstWordsWaitMs),
    dispatcher: dispatchers.uploads,
    jobDispatcher: dispatchers.jobs,
    live,
    contentWaitMs: overrides.contentWaitMs ?? CONTENT_WAIT_MS,

    publicUrl,
    requireHost: createRequireHost(http.publicUrl),
    headers,
    trustProxy: http.trustProxy,
    corsOrigins: http.corsOrigins,
    pages: composePages({
      publicUrl,
      house: config.house,
      provider: oidc.provider?.issuer ?? null,
      hasWebhooks: config.webhooks !== null,
      cookies: sessions,
    }),
    arrivals: new ArrivalMisses(),

    useToken,
    findUser: createFindUser(useToken, oidc.users),
    guesses: new TokenGuesses(limits),
    sessions,
    provider: oidc.provider,

    limits,
    bodies: new BodyBudget({
      maxBytes: config.maxBodyBytesInFlight,
      timeLimitMs: http.requestTimeoutMs,
      metrics,
    }),
    downloads: new DownloadBudget(
      {
        ...config.downloads,
        maxStreams: Math.floor(s3Sockets * STREAMS_SHARE),
        maxStreamsPerCaller: overrides.streamsPerCaller ?? STREAMS_PER_CALLER,
        minHeldMs: overrides.minHeldMs,
      },
      metrics,
    ),
    sending: { minBytesPerSecond: config.downloads.minBytesPerSecond, ...overrides.sending },
    maxPasteBytes: config.maxPasteBytes,
    quotas: config.quotas,
    jobTypes: jobTypesOf(overrides.jobTypes ?? jobTypes),
    jobLimits: { ...config.jobLimits, maxBytesPerHour: config.limits.bytes || null },
    anonymousPastes: config.identity.anonymousPastes,
    house: config.house,
    webhooks: config.webhooks,
    assetUrlSeconds: http.assetUrlSeconds,
    reportsHoldAfter: config.reports.holdAfter,
  };
  server.serve(buildApp(api));

  const health = new HealthServer(config.metrics, readiness, metrics);
  const components: Component[] = [
    health,
    closing('database', () => db.destroy()),
    ...postgresChecks,
    closing('inserts', () => inserts.stop()),
    closing('object store', () => store.close()),
    dispatchers.component,
    server,
    live.waiting,
    {
      name: 'announcement',
      start: async () => logger.info('listening', { url: publicUrl() }),
      stop: async () => {},
    },
  ];
  return { components, server, health };
}

/**
 * A component without a start: it connects at its first use, so that the api starts while Postgres or S3 is
 * down.
 */
function closing(name: string, stop: () => void | Promise<void>): Component {
  return { name, start: () => Promise.resolve(), stop: async () => await stop() };
}

function asUrlHost(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}
