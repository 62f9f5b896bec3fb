import {
  createDatabase,
  pingDatabase,
  poolUse,
  rateLimitStore,
  stampDispatched,
  type DatabaseOptions,
} from '@pasteflow/postgres';
import {
  HealthServer,
  messageSpans,
  showPools,
  sleep,
  type Component,
  type ServiceContext,
  runOutsideSpans,
} from '@pasteflow/runtime';
import { createObjectStore } from '@pasteflow/s3';
import {
  createQueue,
  createSqsClient,
  MessageDispatcher,
  queueDepth,
  sendJobs,
  sendUploads,
  type OutgoingJob,
  type OutgoingUpload,
} from '@pasteflow/sqs';
import { createAdmit } from './admission/admit.ts';
import { buildApp } from './app.ts';
import type { Config } from './config.ts';
import { ApiServer } from './http/server/api-server.ts';
import { RequestEvents } from './http/telemetry/request-events.ts';
import { composeOidc } from './identity/compose-oidc.ts';
import { Idempotency } from './idempotency/idempotency.ts';
import { createIdentify } from './identity/identify.ts';
import { Limits } from './limits/limits.ts';
import { composeLive, type LiveTimings } from './live/live.ts';
import { tracedReads } from './pastes/traced-reads.ts';
import { randomShortCode, type ShortCodes } from '@pasteflow/pastes';

/** What tests put in place of the real thing. */
export interface Overrides {
  readonly newShortCode?: ShortCodes;
  readonly onStatement?: NonNullable<DatabaseOptions['onStatement']>;
  readonly stopDeadlineMs?: number;
  readonly stopNoticeMs?: number;
  readonly oidcCooldownMs?: number;
  readonly live?: LiveTimings;
}

export interface ComposedApi {
  /** In the order of their start. */
  readonly components: readonly Component[];
  readonly server: ApiServer;
  readonly health: HealthServer;
}

/**
 * A statement of a request takes milliseconds; one that takes longer than this is better answered with 503.
 */
const STATEMENT_TIMEOUT_MS = 10_000;

/** Until S3 answers with headers. A read is retried once, which a client would do anyway. */
const S3_REQUEST_TIMEOUT_MS = 5000;
const S3_MAX_ATTEMPTS = 2;

/** Downloads at once; each holds a connection for as long as its client reads. */
const S3_SOCKETS = 200;

/** Of the 10 s that a stop may take, 2 s are left for what stops after the HTTP server. */
const STOP_DEADLINE_MS = 8000;

/** Clients that are busy use an idle connection again within milliseconds. */
const STOP_NOTICE_MS = 500;

/** Short, since the relay sends what isn't sent in time, and sending twice is harmless. */
const SQS_REQUEST_TIMEOUT_MS = 2000;

/** Out of those 2 s. */
const DISPATCH_STOP_MS = 1500;

export function composeApi(context: ServiceContext<Config>, overrides: Overrides = {}): ComposedApi {
  const { config, logger, metrics, readiness, instance, tracing } = context;
  const { http, aws } = config;
  const db = createDatabase({
    url: config.database.url,
    applicationName: instance,
    maxConnections: config.database.poolSize,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    onConnectionError: (error) =>
      runOutsideSpans(() => logger.warn('connection to Postgres lost', { error })),
    traceStatement: tracing.onStatement,
    onStatement: overrides.onStatement,
  });
  showPools(metrics, () => [poolUse(db)]);
  const store = createObjectStore({
    region: aws.region,
    endpoint: aws.s3Endpoint,
    publicEndpoint: http.s3PublicEndpoint,
    bucket: config.bucket,
    maxAttempts: S3_MAX_ATTEMPTS,
    requestTimeoutMs: S3_REQUEST_TIMEOUT_MS,
    maxSockets: S3_SOCKETS,
  });
  const sqs = createSqsClient({
    region: aws.region,
    endpoint: aws.sqsEndpoint,
    requestTimeoutMs: SQS_REQUEST_TIMEOUT_MS,
  });
  const uploadQueue = createQueue(sqs, config.queues.uploads);
  const jobQueue = createQueue(sqs, config.queues.jobs);
  const sending = {
    onSent: (executionIds: readonly string[]) => runOutsideSpans(() => stampDispatched(db, executionIds)),
    onError: (error: unknown, count: number) =>
      runOutsideSpans(() => logger.warn('messages left to the relay', { error, count })),
  };
  const dispatcher = new MessageDispatcher<OutgoingUpload>({
    send: (uploads) => sendUploads(sqs, uploadQueue, uploads),
    follow: messageSpans({ queueName: uploadQueue.name, traces: 'following' }),
    ...sending,
  });
  const jobDispatcher = new MessageDispatcher<OutgoingJob>({
    send: (jobs) => sendJobs(sqs, jobQueue, jobs),
    follow: messageSpans({ queueName: jobQueue.name, traces: 'following' }),
    ...sending,
  });
  readiness.addCheck('postgres', () => pingDatabase(db));
  readiness.addCheck('s3', (signal) => store.ping(signal), { required: false });
  readiness.addCheck('sqs', () => queueDepth(sqs, uploadQueue), { required: false });

  const oidc =
    config.identity.oidc &&
    composeOidc(config.identity.oidc, { db, logger, cooldownMs: overrides.oidcCooldownMs });
  const limits = new Limits({ perMinute: config.limits, store: rateLimitStore(db), logger });
  const live = composeLive({
    db,
    url: config.database.url,
    instance,
    maxWaiters: config.maxWaiters,
    logger,
    metrics,
    ...overrides.live,
  });
  const events = new RequestEvents(logger, metrics);
  const server = new ApiServer({
    host: http.host,
    port: http.port,
    requestTimeoutMs: http.requestTimeoutMs,
    events,
    stopDeadlineMs: overrides.stopDeadlineMs ?? STOP_DEADLINE_MS,
    stopNoticeMs: overrides.stopNoticeMs ?? STOP_NOTICE_MS,
  });
  const publicUrl = (): string => http.publicUrl ?? `http://${asUrlHost(http.host)}:${server.port}`;
  server.serve(
    buildApp({
      db,
      store: tracedReads(store),
      dispatcher,
      jobDispatcher,
      assetUrlSeconds: http.assetUrlSeconds,
      newShortCode: overrides.newShortCode ?? randomShortCode,
      maxPasteBytes: config.maxPasteBytes,
      anonymousPastes: config.identity.anonymousPastes,
      publicUrl,
      logger,
      readiness,
      events,
      trustProxy: http.trustProxy,
      limits,
      live,
      admit: createAdmit({ identify: createIdentify({ db, oidc }), limits }),
      idempotency: new Idempotency({
        db,
        retentionSeconds: config.idempotencyRetentionSeconds,
        logger,
      }),
    }),
  );

  const health = new HealthServer(config.metrics, readiness, metrics);
  const components: Component[] = [
    health,
    closing('database', () => db.destroy()),
    closing('object store', () => store.close()),
    closing('dispatchers', () => stopDispatchers([dispatcher, jobDispatcher], () => sqs.destroy())),
    live.listening,
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

/** Sends what waits, but not for long: what hangs is cut, and the relay sends it. */
async function stopDispatchers(
  dispatchers: readonly { stop(): Promise<void> }[],
  cutConnections: () => void,
): Promise<void> {
  const waiting = new AbortController();
  const stopped = Promise.all(dispatchers.map((dispatcher) => dispatcher.stop()));
  await Promise.race([stopped, sleep(DISPATCH_STOP_MS, waiting.signal)]);
  waiting.abort();
  cutConnections();
}

/** What needs no start: it connects when it is first used, so that the api starts whatever is down. */
function closing(name: string, stop: () => void | Promise<void>): Component {
  return { name, start: () => Promise.resolve(), stop: async () => await stop() };
}

function asUrlHost(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}
