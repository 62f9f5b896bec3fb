import { BucketOwnership, showWebhookKey, watchPostgres } from '@pasteflow/service-kit';
import { heartbeatIntervalMs } from '@pasteflow/domain';
import { jobTypes, type JobType } from '@pasteflow/jobs';
import {
  createDatabase,
  cutStatements,
  pingDatabase,
  poolUse,
  type Database,
  type DatabaseOptions,
} from '@pasteflow/postgres';
import {
  HealthServer,
  PollLoop,
  runOutsideSpans,
  registerPoolMetrics,
  type Component,
  type ServiceContext,
} from '@pasteflow/runtime';
import { createObjectStore } from '@pasteflow/s3';
import { createSqsClient, queueDepth } from '@pasteflow/sqs';
import type { Config } from './config.ts';
import { ReceiveGate } from './executions/receive-gate.ts';
import { dependencyFailed } from './events.ts';
import type { Pipeline, QueueConsumer } from './executions/pipeline.ts';
import { RunningExecutions } from './executions/running-executions.ts';
import type { WorkerContext } from './executions/worker-context.ts';
import { composeJobs } from './jobs/compose-jobs.ts';
import { composeUploads } from './uploads/compose-uploads.ts';
import { composeWebhooks, type WebhookOverrides } from './webhooks/delivery-loop.ts';

/**
 * Grace period of a stop for running attempts. Afterwards they are interrupted and their messages returned. A
 * stop may take 10 s in all.
 */
const STOP_GRACE_MS = 5000;

/**
 * How long after the grace period the settlements of interrupted attempts may take. Then every statement is
 * cut: a statement may run for 15 s, and the stop has 10 s. What was not settled counts as lost when its
 * lease has expired, which spends no attempt.
 */
const STOP_SETTLE_MS = 3000;

/**
 * Claims and settlements take milliseconds. When Postgres is slow, they may take as long as they need while
 * their lease is renewed: with UPDATEs of 4 s, a settlement takes 8 s, after up to 4 s of waiting for a
 * renewal.
 */
const STATEMENT_TIMEOUT_MS = 15_000;

/** Timeout of all requests to SQS except receives, the same as in the api and the janitor. */
const SQS_TIMEOUT_MS = 3000;

/** The timeout of a request of the bucket owner's check. The start waits as long. */
const OWNER_CHECK_TIMEOUT_MS = 2000;

/** Replacements for tests. */
export interface Overrides extends Pick<DatabaseOptions, 'onStatement'> {
  readonly settleLingerMs?: number;
  readonly jobTypes?: ReadonlyMap<string, JobType>;
  readonly stopGraceMs?: number;
  readonly webhooks?: WebhookOverrides;
}

export function compose(context: ServiceContext<Config>, overrides: Overrides = {}): readonly Component[] {
  const { config, instance, logger, metrics, readiness, tracing } = context;
  const { leaseSeconds } = config.upload;
  const databases: Database[] = [];
  const connect = (maxConnections: number, statementTimeoutMs = STATEMENT_TIMEOUT_MS): Database => {
    const database = createDatabase({
      url: config.database.url,
      preparedStatements: config.database.preparedStatements,
      applicationName: instance,
      statementTimeoutMs,
      maxConnections,
      onConnectionError: (error) =>
        runOutsideSpans(() => dependencyFailed(logger, 'connection to Postgres', error)),
      traceStatement: tracing.onStatement,
      onStatement: overrides.onStatement,
    });
    databases.push(database);
    return database;
  };
  registerPoolMetrics(metrics, () => databases.map(poolUse));
  const db = connect(config.database.poolSize);
  const sqs = createSqsClient({
    region: config.aws.region,
    endpoint: config.aws.sqsEndpoint,
    requestTimeoutMs: SQS_TIMEOUT_MS,
  });
  const gate = new ReceiveGate(async () => {
    await pingDatabase(db);
    return true;
  });
  // A connection of its own: settlements that wait for locks must not keep the leases from being renewed.
  const renewals = connect(1, Math.min(STATEMENT_TIMEOUT_MS, leaseSeconds * 1000));
  const running = new RunningExecutions({
    db: renewals,
    leaseSeconds,
    renewSoon: () => leases.wake(),
  });
  const stopping = new AbortController();
  const graceOver = new AbortController();
  let cutting: NodeJS.Timeout | undefined;
  const ownerStore = createObjectStore({
    region: config.aws.region,
    endpoint: config.aws.s3Endpoint,
    bucket: config.bucket,
    maxAttempts: 1,
    requestTimeoutMs: OWNER_CHECK_TIMEOUT_MS,
  });
  const bucket = new BucketOwnership({ db, store: ownerStore, actor: instance, logger }, context.fail);
  const worker: WorkerContext = {
    config,
    logger,
    metrics,
    db,
    connect,
    sqs,
    jobTypes: overrides.jobTypes ?? jobTypes,
    gate,
    bucket,
    running,
    actor: instance,
    leaseSeconds,
    stopping: stopping.signal,
    graceOver: graceOver.signal,
  };
  const leases: PollLoop = new PollLoop({
    name: 'leases',
    intervalMs: heartbeatIntervalMs(leaseSeconds),
    run: (signal) => running.renewRepeatedly(heartbeatIntervalMs(leaseSeconds), signal),
    onError: (error) => {
      dependencyFailed(logger, 'renewing leases', error);
      gate.close();
    },
    backoff: { firstMs: 250, capMs: 250, jitter: 0 },
  });
  const queueConsumers = config.consumed.flatMap((kind): readonly QueueConsumer[] => {
    switch (kind) {
      case 'uploads':
        return [composeUploads(worker, overrides.settleLingerMs)];
      case 'jobs':
        return [composeJobs(worker)];
      case 'webhooks':
        return []; // which have no queue
      default:
        return kind satisfies never;
    }
  });
  const webhooks =
    config.consumed.includes('webhooks') && config.webhooks !== null
      ? composeWebhooks(worker, config.webhooks, overrides.webhooks)
      : null;
  const onEach = async (act: (pipeline: Pipeline) => Promise<unknown>): Promise<void> => {
    await Promise.all(queueConsumers.map(({ pipeline }) => act(pipeline)));
  };

  const postgresChecks = watchPostgres(context, db);
  showWebhookKey(metrics, config.webhooks);
  readiness.addCheck('bucket_owner', () => bucket.requireVerified());
  const paid = { required: false, paid: true };
  readiness.addCheck('sqs', () => onEach(({ queue }) => queueDepth(sqs, queue)), paid);
  readiness.addCheck(
    's3',
    async (signal) => void (await Promise.all(queueConsumers.map(({ store }) => store.ping(signal)))),
    paid,
  );

  return [
    new HealthServer(config.metrics, readiness, metrics),
    {
      name: 'connections',
      start: () => Promise.resolve(),
      stop: async () => {
        clearTimeout(cutting);
        await Promise.all([db.destroy(), renewals.destroy()]);
        for (const { pipeline, store } of queueConsumers) {
          pipeline.close();
          store.close();
        }
        ownerStore.close();
        sqs.destroy();
      },
    },
    ...postgresChecks,
    bucket,
    leases,
    ...queueConsumers.flatMap(({ components }) => components),
    ...queueConsumers.map(({ pipeline }) => pipeline.heartbeat),
    {
      name: 'message returner',
      start: () => Promise.resolve(),
      stop: () => onEach(({ returner }) => returner.stop()),
    },
    {
      name: 'consumers',
      start: async () => {
        for (const { pipeline } of queueConsumers) pipeline.consumers.start();
        await webhooks?.start();
      },
      stop: async () => {
        stopping.abort(new Error('The worker stops.'));
        gate.stop();
        bucket.release();
        const graceMs = overrides.stopGraceMs ?? STOP_GRACE_MS;
        const grace = setTimeout(() => graceOver.abort(), graceMs);
        cutting = setTimeout(() => databases.forEach(cutStatements), graceMs + STOP_SETTLE_MS);
        await Promise.all([onEach(({ consumers }) => consumers.stop()), webhooks?.stop()]);
        clearTimeout(grace);
      },
    },
  ];
}
