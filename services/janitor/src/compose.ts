import { BucketOwnership, watchPostgres } from '@pasteflow/service-kit';
import {
  COLLATION_CHANGED,
  createDatabase,
  findChangedCollation,
  isSweepDue,
  pingDatabase,
  poolUse,
  type Database,
} from '@pasteflow/postgres';
import {
  HealthServer,
  registerPoolMetrics,
  warnDaily,
  type Check,
  type Component,
  type Entry,
  type Metrics,
  type ServiceContext,
} from '@pasteflow/runtime';
import { createObjectStore } from '@pasteflow/s3';
import { createSqsClient, queueDepth } from '@pasteflow/sqs';
import { timeBoundsOf, type JanitorConfig } from './config.ts';
import type { Operations } from './operations/operations.ts';
import { OperationsServer } from './operations/page/operations-server.ts';
import { MinuteHistory } from './operations/page/minutes.ts';
import { createDeliveries, createJobQueue, createUploadQueue } from './sweeps/queues/queues.ts';
import { findKeptVersions, KEPT_VERSIONS } from './operations/reports/kept-versions.ts';
import { SweepRunner } from './sweeps/running/sweep-runner.ts';
import { Schedule, Leadership } from './sweeps/running/schedule.ts';
import { DeadLetterAges } from './sweeps/running/findings.ts';
import { StateMetrics } from './metrics/state-metrics.ts';
import type { SweepName } from './sweep-names.ts';
import type { Sweeps } from './sweeps/running/sweep.ts';
import { createSweeps } from './create-sweeps.ts';
import { redispatchAfterSeconds, times, type JanitorContext } from './sweeps/context.ts';

/**
 * The service stops within 10 s and a sweep stops between batches, so no single request may take longer. A
 * request to S3 is tried once: the next run tries again. A request to SQS is tried twice, 3 s each, so that a
 * request that hangs when SQS returns doesn't delay the relay.
 */
const STATEMENT_TIMEOUT_MS = 8000;
const S3_TIMEOUT_MS = 7000;
const SQS_TIMEOUT_MS = 3000;

export interface ComposedSweeps {
  readonly janitor: JanitorContext;
  readonly sweeps: Sweeps;
  readonly runner: SweepRunner;
  /** The connection for the lock of the janitor that leads. */
  readonly lock: Database;
  readonly stateMetrics: StateMetrics;
  /** The readiness checks of the dependencies. */
  readonly checks: Readonly<Record<'postgres' | 's3' | 'sqs', Check>>;
  /** Whether a daily sweep is due, by its last run in any janitor. */
  readonly isDue: (sweep: SweepName) => Promise<boolean>;
  readonly operations: Operations;
  readonly minutes: MinuteHistory;
  readonly close: () => Promise<void>;
}

/** The sweeps and their dependencies, without a schedule. */
export function composeSweeps(
  { config, instance, logger }: Entry<JanitorConfig>,
  metrics: Metrics,
  { allowMassDeletion = false }: { readonly allowMassDeletion?: boolean } = {},
): ComposedSweeps {
  const { database, aws, queues: queueNames, bucket } = config;
  const connect = (maxConnections: number) =>
    createDatabase({
      url: database.url,
      preparedStatements: database.preparedStatements,
      applicationName: instance,
      maxConnections,
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
      onConnectionError: (error) => logger.warn('connection to Postgres lost', { error }),
    });
  const db = connect(database.poolSize);
  const lock = connect(1);
  const store = createObjectStore({
    bucket,
    region: aws.region,
    endpoint: aws.s3Endpoint,
    maxAttempts: 1,
    requestTimeoutMs: S3_TIMEOUT_MS,
  });
  const sqs = createSqsClient({
    region: aws.region,
    endpoint: aws.sqsEndpoint,
    requestTimeoutMs: SQS_TIMEOUT_MS,
  });
  const forQueues = { db, sqs, logger, metrics };
  const queues = [
    createUploadQueue(forQueues, queueNames.uploads, config.uploadRetry),
    createJobQueue(forQueues, queueNames.jobs, config.jobRetry),
  ];
  const janitor: JanitorContext = {
    ...config.sweeps,
    ...times,
    relayRedispatchAfterSeconds: redispatchAfterSeconds(config.sweeps.leaseSeconds),
    ...forQueues,
    actor: instance,
    store,
    queues,
    work: [...queues, createDeliveries(forQueues)],
    deadLetterAges: new DeadLetterAges(),
    bounds: timeBoundsOf(config),
    quotas: config.quotas,
    idempotencyRetentionSeconds: config.idempotencyRetentionSeconds,
    allowMassDeletion,
    random: Math.random,
  };
  const sweeps = createSweeps(janitor);
  const runner = new SweepRunner(janitor);
  const minutes = new MinuteHistory();
  const stateMetrics = new StateMetrics(janitor, {
    intervalSeconds: config.sweepIntervalSeconds['state-metrics'],
    mayLoseDataBy: database.mayLoseDataBy,
    onSweepRuns: (runs) => runner.learn(runs),
    onTransitions: (statistics) => minutes.learn(statistics),
  });
  registerPoolMetrics(metrics, () => [poolUse(db), poolUse(lock)]);
  return {
    janitor,
    sweeps,
    runner,
    lock,
    stateMetrics,
    checks: {
      postgres: () => pingDatabase(db),
      s3: (signal) => store.ping(signal),
      sqs: () => Promise.all(janitor.queues.map(({ queue }) => queueDepth(sqs, queue))),
    },
    isDue: (sweep) => isSweepDue(db, sweep, config.sweepIntervalSeconds[sweep]),
    operations: { config, db, sqs, store, runSweep: (name, signal) => runner.run(sweeps[name], signal) },
    minutes,
    close: async () => {
      store.close();
      sqs.destroy();
      await Promise.all([db.destroy(), lock.destroy()]);
    },
  };
}

export function composeJanitor(context: ServiceContext<JanitorConfig>): readonly Component[] {
  const { config, metrics, readiness, logger } = context;
  const composed = composeSweeps(context, metrics);
  const { sweeps, runner, lock, stateMetrics, checks, isDue, janitor, operations, minutes, close } = composed;
  const schedule: Schedule = new Schedule(
    janitor,
    { sweeps: Object.values(sweeps), runner, intervalSeconds: config.sweepIntervalSeconds },
    () => leadership.leads,
    isDue,
  );
  const leadership = new Leadership(janitor, lock, (leads) =>
    leads ? schedule.runNow() : runner.forgetRefused(),
  );
  const bucket = new BucketOwnership(janitor, context.fail);
  const postgresChecks = watchPostgres(context, janitor.db);
  readiness.addCheck('s3', checks.s3, { required: false, paid: true });
  readiness.addCheck('sqs', checks.sqs, { required: false, paid: true });
  // Not required: the sweeps that don't delete run without it.
  readiness.addCheck('bucket_owner', () => bucket.requireVerified(), { required: false });
  return [
    { name: 'connections', start: () => Promise.resolve(), stop: close },
    new HealthServer(config.metrics, readiness, metrics),
    ...postgresChecks,
    warnDaily({
      name: 'collation',
      message: COLLATION_CHANGED,
      find: () => findChangedCollation(janitor.db),
      logger,
    }),
    warnDaily({
      name: 'kept versions',
      message: KEPT_VERSIONS,
      find: () => findKeptVersions(operations.store),
      logger,
    }),
    bucket,
    inParallel('sweeps', [stateMetrics, leadership, schedule]),
    ...(config.operations === null
      ? []
      : [new OperationsServer(config.operations, operations, { minutes, logger, metrics })]),
  ];
}

/** Stops the components in parallel, because each may wait for a statement that hangs. */
function inParallel(name: string, components: readonly Component[]): Component {
  return {
    name,
    start: async () => void (await Promise.all(components.map((each) => each.start()))),
    stop: async () => void (await Promise.all(components.map((each) => each.stop()))),
  };
}
