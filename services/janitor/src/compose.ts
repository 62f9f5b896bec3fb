import { BucketOwnership, type OwnerCheck } from '@pasteflow/service-kit';
import {
  createDatabase,
  findPrivilegedUser,
  findSettingProblems,
  isSweepDue,
  pingDatabase,
  poolUse,
  PRIVILEGED_USER,
  type Actor,
  type Database,
} from '@pasteflow/postgres';
import {
  HealthServer,
  registerPoolMetrics,
  StartCheck,
  warnDaily,
  type Check,
  type Component,
  type Entry,
  type Logger,
  type Metrics,
  type ServiceContext,
} from '@pasteflow/runtime';
import { createObjectStore, type ObjectStore } from '@pasteflow/s3';
import { createSqsClient, queueDepth, type SqsClient } from '@pasteflow/sqs';
import type { JanitorConfig } from './config.ts';
import { composeOperations } from './page/operations-server.ts';
import { MinuteHistory } from './page/minutes.ts';
import { createJobQueue } from './queues/job-queue.ts';
import { createUploadQueue } from './queues/upload-queue.ts';
import type { WorkQueue } from './queues/work-queue.ts';
import { checkBeforeDeleting, checked } from './sweeping/check-before-deleting.ts';
import { SweepRunner } from './sweeping/run-sweep.ts';
import { Schedule } from './sweeping/schedule.ts';
import { DeadLetterAges } from './state-metrics/dead-letter-ages.ts';
import { StateMetrics } from './state-metrics/state-metrics.ts';
import { sweepNames, type Sweep, type SweepName, type Sweeps } from './sweeping/sweep.ts';
import { Cleanup } from './sweeps/cleanup.ts';
import { DeadLetters } from './sweeps/dead-letters.ts';
import { DeletionWatchdog } from './sweeps/deletion-watchdog.ts';
import { ExpiredKeys } from './sweeps/expired-keys.ts';
import { FailedPastes } from './sweeps/failed-pastes.ts';
import { Jobs } from './sweeps/jobs.ts';
import { Measure } from './sweeps/measure.ts';
import { ReapExecutions } from './sweeps/reap-executions.ts';
import { Reconcile } from './sweeps/reconcile.ts';
import { RescueStranded } from './sweeps/rescue-stranded.ts';
import { Relay } from './sweeps/relay.ts';
import { Tombstones } from './sweeps/tombstones.ts';

/**
 * The service stops within 10 s and a sweep stops between batches, so no single request may take longer. A request to S3 is tried once: the
 * next run tries again. A request to SQS is tried twice, 3 s each, so that a request that hangs when SQS returns doesn't delay the relay.
 */
const STATEMENT_TIMEOUT_MS = 8000;
const S3_TIMEOUT_MS = 7000;
const SQS_TIMEOUT_MS = 3000;

export interface ComposedSweeps {
  readonly sweeps: Sweeps;
  readonly runner: SweepRunner;
  readonly stateMetrics: StateMetrics;
  /** The readiness checks of the dependencies. */
  readonly checks: Readonly<Record<'postgres' | 's3' | 'sqs', Check>>;
  /** Whether a daily sweep is due, by its last run in any janitor. */
  readonly isDue: (sweep: SweepName) => Promise<boolean>;
  readonly owner: OwnerCheck;
  readonly sqs: SqsClient;
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
  const locks = connect(sweepNames.length);
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
    createUploadQueue({ ...forQueues, queueName: queueNames.uploads, policy: config.uploadRetry }),
    createJobQueue({ ...forQueues, queueName: queueNames.jobs, policy: config.jobRetry }),
  ];
  const deadLetterAges = new DeadLetterAges();
  const owner = { db, store, actor: instance };
  const sweeps = createSweeps(
    { db, actor: instance, logger, store, sqs, queues, deadLetterAges, allowMassDeletion },
    config,
  );
  const runner = new SweepRunner({
    locks,
    db,
    janitor: instance,
    lockIdleSeconds: config.sweeps.lockIdleSeconds,
    logger,
    metrics,
  });
  const minutes = new MinuteHistory();
  const stateMetrics = new StateMetrics({
    db,
    sqs,
    queues,
    deadLetterAges,
    onSweepRuns: (runs) => runner.learn(runs),
    onTransitions: (statistics) => minutes.learn(statistics),
    intervalSeconds: config.stateMetricsIntervalSeconds,
    mayLoseDataBy: database.mayLoseDataBy,
    metrics,
    logger,
  });
  registerPoolMetrics(metrics, () => [poolUse(db), poolUse(locks)]);
  return {
    sweeps,
    runner,
    stateMetrics,
    checks: {
      postgres: () => pingDatabase(db),
      s3: (signal) => store.ping(signal),
      sqs: () => Promise.all(queues.map(({ queue }) => queueDepth(sqs, queue))),
    },
    isDue: (sweep) => isSweepDue(db, sweep, config.sweepIntervalSeconds[sweep]),
    owner,
    sqs,
    minutes,
    close: async () => {
      store.close();
      sqs.destroy();
      await Promise.all([db.destroy(), locks.destroy()]);
    },
  };
}

interface SweepDependencies {
  readonly db: Database;
  readonly actor: Actor;
  readonly logger: Logger;
  readonly store: ObjectStore;
  readonly sqs: SqsClient;
  readonly queues: readonly WorkQueue[];
  readonly deadLetterAges: DeadLetterAges;
  readonly allowMassDeletion: boolean;
}

function createSweeps(
  { deadLetterAges, queues, sqs, store, allowMassDeletion, ...base }: SweepDependencies,
  { sweeps: settings, idempotencyRetentionSeconds }: JanitorConfig,
): Sweeps {
  const { db, actor } = base;
  const deleting = <Name extends SweepName>(sweep: Sweep & { readonly name: Name }) =>
    checked(sweep, () => checkBeforeDeleting({ db, store, actor }));
  const dispatching = { sqs, queues, random: Math.random };
  return {
    relay: new Relay({
      ...dispatching,
      graceSeconds: settings.relayGraceSeconds,
      redispatchAfterSeconds: settings.relayRedispatchAfterSeconds,
    }),
    'reap-executions': new ReapExecutions({ ...base, ...dispatching }),
    'rescue-stranded': new RescueStranded({ ...base, ...dispatching }),
    cleanup: deleting(new Cleanup({ ...base, store })),
    'deletion-watchdog': new DeletionWatchdog({
      ...base,
      stuckAfterSeconds: settings.deletionStuckAfterSeconds,
    }),
    'failed-pastes': deleting(
      new FailedPastes({ ...base, store, retentionSeconds: settings.failedRetentionSeconds }),
    ),
    'dead-letters': new DeadLetters({
      ...base,
      ...dispatching,
      ages: deadLetterAges,
      leaseSeconds: settings.leaseSeconds,
    }),
    jobs: deleting(new Jobs({ ...base, store, retentionSeconds: settings.jobRetentionSeconds })),
    tombstones: deleting(
      new Tombstones({
        db,
        tombstoneRetentionSeconds: settings.tombstoneRetentionSeconds,
        transitionRetentionSeconds: settings.transitionRetentionSeconds,
      }),
    ),
    reconcile: deleting(
      new Reconcile({
        ...base,
        store,
        minAgeSeconds: settings.reconcileMinAgeSeconds,
        orphanGraceSeconds: settings.orphanGraceSeconds,
        allowMassDeletion,
        jobRetentionSeconds: settings.jobRetentionSeconds,
      }),
    ),
    'expired-keys': deleting(new ExpiredKeys({ db, idempotencyRetentionSeconds })),
    measure: new Measure({ db }),
  };
}

export function composeJanitor(context: ServiceContext<JanitorConfig>): readonly Component[] {
  const { config, metrics, readiness, logger } = context;
  const composed = composeSweeps(context, metrics);
  const { sweeps, runner, stateMetrics, checks, isDue, owner, close } = composed;
  const bucket = new BucketOwnership({ ...owner, logger, onMismatch: context.fail });
  const settings = new StartCheck({
    name: 'settings of Postgres',
    findProblems: () => findSettingProblems(owner.db, config.database.mayLoseDataBy),
    fail: context.fail,
  });
  readiness.addCheck('postgres', async (signal) => {
    await checks.postgres(signal);
    settings.requirePassed();
  });
  readiness.addCheck('s3', checks.s3, { required: false });
  readiness.addCheck('sqs', checks.sqs, { required: false });
  // Not required: the sweeps that don't delete run without it.
  readiness.addCheck('bucket_owner', () => bucket.requireVerified(), { required: false });
  return [
    { name: 'connections', start: () => Promise.resolve(), stop: close },
    new HealthServer(config.metrics, readiness, metrics),
    settings,
    warnDaily({
      name: 'database role',
      message: PRIVILEGED_USER,
      find: () => findPrivilegedUser(owner.db),
      logger,
    }),
    bucket,
    inParallel('sweeps', [
      stateMetrics,
      new Schedule({
        sweeps: Object.values(sweeps),
        runner,
        intervalSeconds: config.sweepIntervalSeconds,
        isDue,
        logger,
        metrics,
      }),
    ]),
    ...(config.operations === null
      ? []
      : [composeOperations(config.operations, config, { ...composed, db: owner.db, logger, metrics })]),
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
