import { messageVisibilitySeconds, type RetryPolicy } from '@pasteflow/domain';
import {
  groups,
  intervalSeconds,
  loadConfig,
  logEnv,
  metricsEnv,
  seconds,
  tracingEnv,
  type Environment,
  type LogConfig,
  type MetricsConfig,
  type TracingConfig,
} from '@pasteflow/runtime';
import {
  type AwsConfig,
  type DatabaseConfig,
  type QueueConfig,
  awsEnv,
  bucketEnv,
  databaseEnv,
  idempotencyRetentionEnv,
  jobRetryEnv,
  leaseSeconds,
  queueEnv,
  uploadRetryEnv,
} from '@pasteflow/service-kit';
import { z } from 'zod';
import { operationsEnv, type OperationsConfig } from './operations-env.ts';
import type { SweepName } from './sweep-runner/sweep.ts';

interface SweepsConfig {
  /** A janitor that is frozen or cut off loses the lock of a sweep after this time. */
  readonly lockIdleSeconds: number;
  /** The lease of the executions that dead-letters claims before it ends them. */
  readonly leaseSeconds: number;
  readonly relayGraceSeconds: number;
  readonly relayRedispatchAfterSeconds: number;
  readonly deletionStuckAfterSeconds: number;
  readonly failedRetentionSeconds: number;
  readonly jobRetentionSeconds: number;
  readonly tombstoneRetentionSeconds: number;
  readonly transitionRetentionSeconds: number;
  readonly reconcileMinAgeSeconds: number;
  /** From the run that first finds an object without a row to the run that may delete the object. */
  readonly orphanGraceSeconds: number;
}

export interface JanitorConfig {
  readonly log: LogConfig;
  readonly database: DatabaseConfig;
  readonly aws: AwsConfig;
  readonly queues: QueueConfig;
  readonly bucket: string;
  readonly metrics: MetricsConfig;
  readonly uploadRetry: RetryPolicy;
  readonly jobRetry: RetryPolicy;
  readonly idempotencyRetentionSeconds: number;
  readonly sweeps: SweepsConfig;
  /** From the end of a run to the start of the next run. */
  readonly sweepIntervalSeconds: Readonly<Record<SweepName, number>>;
  readonly stateMetricsIntervalSeconds: number;
  readonly tracing: TracingConfig;
  /** null: there is no operations page. */
  readonly operations: OperationsConfig | null;
}

const HOUR = 3600;
const DAY = 24 * HOUR;

/** Shorter than that, nobody reads the log before the objects are gone. */
const MIN_ORPHAN_GRACE_SECONDS = HOUR;

const sweepIntervalsEnv: z.ZodType<Readonly<Record<SweepName, number>>> = z
  .object({
    RELAY_INTERVAL_SECONDS: intervalSeconds().default(2),
    REAP_EXECUTIONS_INTERVAL_SECONDS: intervalSeconds().default(2),
    RESCUE_STRANDED_INTERVAL_SECONDS: intervalSeconds().default(30),
    CLEANUP_INTERVAL_SECONDS: intervalSeconds().default(60),
    DELETION_WATCHDOG_INTERVAL_SECONDS: intervalSeconds().default(600),
    FAILED_PASTES_INTERVAL_SECONDS: intervalSeconds().default(DAY),
    DEAD_LETTERS_INTERVAL_SECONDS: intervalSeconds().default(60),
    JOBS_INTERVAL_SECONDS: intervalSeconds().default(DAY),
    TOMBSTONES_INTERVAL_SECONDS: intervalSeconds().default(DAY),
    RECONCILE_INTERVAL_SECONDS: intervalSeconds().default(DAY),
    EXPIRED_KEYS_INTERVAL_SECONDS: intervalSeconds().default(HOUR),
    MEASURE_INTERVAL_SECONDS: intervalSeconds().default(5),
  })
  .transform((env) => ({
    relay: env.RELAY_INTERVAL_SECONDS,
    'reap-executions': env.REAP_EXECUTIONS_INTERVAL_SECONDS,
    'rescue-stranded': env.RESCUE_STRANDED_INTERVAL_SECONDS,
    cleanup: env.CLEANUP_INTERVAL_SECONDS,
    'deletion-watchdog': env.DELETION_WATCHDOG_INTERVAL_SECONDS,
    'failed-pastes': env.FAILED_PASTES_INTERVAL_SECONDS,
    'dead-letters': env.DEAD_LETTERS_INTERVAL_SECONDS,
    jobs: env.JOBS_INTERVAL_SECONDS,
    tombstones: env.TOMBSTONES_INTERVAL_SECONDS,
    reconcile: env.RECONCILE_INTERVAL_SECONDS,
    'expired-keys': env.EXPIRED_KEYS_INTERVAL_SECONDS,
    measure: env.MEASURE_INTERVAL_SECONDS,
  }));

const sweepsEnv: z.ZodType<SweepsConfig> = z
  .object({
    SWEEP_LOCK_IDLE_SECONDS: seconds().default(5),
    EXECUTION_LEASE_SECONDS: leaseSeconds(),
    RELAY_GRACE_SECONDS: seconds().default(1),
    RELAY_REDISPATCH_AFTER_SECONDS: seconds().default(30),
    DELETION_STUCK_AFTER_SECONDS: seconds().default(7200),
    FAILED_RETENTION_SECONDS: seconds().default(DAY),
    JOB_RETENTION_SECONDS: seconds().default(30 * DAY),
    TOMBSTONE_RETENTION_SECONDS: seconds().default(30 * DAY),
    TRANSITION_RETENTION_SECONDS: seconds().default(90 * DAY),
    RECONCILE_MIN_AGE_SECONDS: seconds().default(DAY),
    RECONCILE_ORPHAN_GRACE_SECONDS: seconds().default(DAY),
  })
  .transform((env, context) => {
    const visibilitySeconds = messageVisibilitySeconds(env.EXECUTION_LEASE_SECONDS);
    if (env.RELAY_REDISPATCH_AFTER_SECONDS <= visibilitySeconds) {
      context.addIssue({
        code: 'custom',
        path: ['RELAY_REDISPATCH_AFTER_SECONDS'],
        message:
          `is ${env.RELAY_REDISPATCH_AFTER_SECONDS}; set it above ${visibilitySeconds}, the visibility timeout of a message ` +
          '(EXECUTION_LEASE_SECONDS and 4), or every message of a crashed worker is sent again',
      });
    }
    if (env.TRANSITION_RETENTION_SECONDS < 7 * DAY) {
      context.addIssue({
        code: 'custom',
        path: ['TRANSITION_RETENTION_SECONDS'],
        message: `is ${env.TRANSITION_RETENTION_SECONDS}; set it to at least ${7 * DAY} (7 days): the database keeps the audit trail for that long`,
      });
    }
    if (env.RECONCILE_ORPHAN_GRACE_SECONDS < MIN_ORPHAN_GRACE_SECONDS) {
      context.addIssue({
        code: 'custom',
        path: ['RECONCILE_ORPHAN_GRACE_SECONDS'],
        message:
          `is ${env.RECONCILE_ORPHAN_GRACE_SECONDS}; set it to ${MIN_ORPHAN_GRACE_SECONDS} or more, so that an operator can still ` +
          'prevent a wrong deletion',
      });
    }
    return {
      lockIdleSeconds: env.SWEEP_LOCK_IDLE_SECONDS,
      leaseSeconds: env.EXECUTION_LEASE_SECONDS,
      relayGraceSeconds: env.RELAY_GRACE_SECONDS,
      relayRedispatchAfterSeconds: env.RELAY_REDISPATCH_AFTER_SECONDS,
      deletionStuckAfterSeconds: env.DELETION_STUCK_AFTER_SECONDS,
      failedRetentionSeconds: env.FAILED_RETENTION_SECONDS,
      jobRetentionSeconds: env.JOB_RETENTION_SECONDS,
      tombstoneRetentionSeconds: env.TOMBSTONE_RETENTION_SECONDS,
      transitionRetentionSeconds: env.TRANSITION_RETENTION_SECONDS,
      reconcileMinAgeSeconds: env.RECONCILE_MIN_AGE_SECONDS,
      orphanGraceSeconds: env.RECONCILE_ORPHAN_GRACE_SECONDS,
    };
  });

const stateMetricsEnv: z.ZodType<number> = z
  .object({ STATE_METRICS_INTERVAL_SECONDS: intervalSeconds().default(15) })
  .transform((env) => env.STATE_METRICS_INTERVAL_SECONDS);

const janitorEnv: z.ZodType<JanitorConfig> = groups({
  log: logEnv,
  database: databaseEnv,
  aws: awsEnv,
  queues: queueEnv,
  bucket: bucketEnv,
  metrics: metricsEnv(9466),
  uploadRetry: uploadRetryEnv,
  jobRetry: jobRetryEnv,
  idempotencyRetentionSeconds: idempotencyRetentionEnv,
  sweeps: sweepsEnv,
  sweepIntervalSeconds: sweepIntervalsEnv,
  stateMetricsIntervalSeconds: stateMetricsEnv,
  tracing: tracingEnv,
  operations: operationsEnv,
});

/** @throws ConfigError naming every problem */
export function loadJanitorConfig(env: Environment): JanitorConfig {
  return loadConfig(janitorEnv, env);
}
