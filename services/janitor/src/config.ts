import { longestDelayMs, messageVisibilitySeconds } from '@pasteflow/domain';
import type { TimeBounds } from '@pasteflow/postgres';
import {
  groups,
  httpUrl,
  intervalSeconds,
  isLoopback,
  loadConfig,
  logEnv,
  metricsEnv,
  port,
  seconds,
  secret,
  setting,
  text,
  tracingEnv,
  type Environment,
} from '@pasteflow/runtime';
import {
  awsEnv,
  bucketEnv,
  databaseEnv,
  idempotencyRetentionEnv,
  jobRetryEnv,
  leaseSeconds,
  queueEnv,
  quotaEnv,
  uploadRetryEnv,
} from '@pasteflow/service-kit';
import type { z } from 'zod';
import { operatorOidcEnv } from './operator-oidc-env.ts';
import type { SweepName } from './sweeps/running/sweep.ts';

const HOUR = 3600;
const DAY = 24 * HOUR;

/** From the end of a run to the start of the next run. */
const sweepIntervals = groups({
  relay: setting('RELAY_INTERVAL_SECONDS', intervalSeconds().default(2)),
  'reap-executions': setting('REAP_EXECUTIONS_INTERVAL_SECONDS', intervalSeconds().default(2)),
  'rescue-stranded': setting('RESCUE_STRANDED_INTERVAL_SECONDS', intervalSeconds().default(30)),
  cleanup: setting('CLEANUP_INTERVAL_SECONDS', intervalSeconds().default(60)),
  'deletion-watchdog': setting('DELETION_WATCHDOG_INTERVAL_SECONDS', intervalSeconds().default(600)),
  erasures: setting('ERASURES_INTERVAL_SECONDS', intervalSeconds().default(60)),
  'failed-pastes': setting('FAILED_PASTES_INTERVAL_SECONDS', intervalSeconds().default(DAY)),
  'dead-letters': setting('DEAD_LETTERS_INTERVAL_SECONDS', intervalSeconds().default(60)),
  jobs: setting('JOBS_INTERVAL_SECONDS', intervalSeconds().default(DAY)),
  tombstones: setting('TOMBSTONES_INTERVAL_SECONDS', intervalSeconds().default(DAY)),
  reconcile: setting('RECONCILE_INTERVAL_SECONDS', intervalSeconds().default(DAY)),
  'expired-keys': setting('EXPIRED_KEYS_INTERVAL_SECONDS', intervalSeconds().default(HOUR)),
  measure: setting('MEASURE_INTERVAL_SECONDS', intervalSeconds().default(5)),
} satisfies Record<SweepName, z.ZodType>);

/** Shorter than that, nobody reads the log before the objects are gone. */
const MIN_ORPHAN_GRACE_SECONDS = HOUR;

/** For so long the database keeps the audit trail. */
const MIN_TRANSITION_RETENTION_SECONDS = 7 * DAY;

const sweepSettings = groups({
  /** A janitor that is frozen or cut off no longer leads after this time. */
  lockIdleSeconds: setting('SWEEP_LOCK_IDLE_SECONDS', seconds().default(5)),
  /** The lease of the executions that dead-letters claims before it ends them. */
  leaseSeconds: setting('EXECUTION_LEASE_SECONDS', leaseSeconds()),
  relayGraceSeconds: setting('RELAY_GRACE_SECONDS', seconds().default(1)),
  relayRedispatchAfterSeconds: setting('RELAY_REDISPATCH_AFTER_SECONDS', seconds().default(30)),
  deletionStuckAfterSeconds: setting('DELETION_STUCK_AFTER_SECONDS', seconds().default(7200)),
  failedRetentionSeconds: setting('FAILED_RETENTION_SECONDS', seconds().default(DAY)),
  jobRetentionSeconds: setting('JOB_RETENTION_SECONDS', seconds().default(30 * DAY)),
  tombstoneRetentionSeconds: setting('TOMBSTONE_RETENTION_SECONDS', seconds().default(30 * DAY)),
  transitionRetentionSeconds: setting(
    'TRANSITION_RETENTION_SECONDS',
    seconds()
      .default(90 * DAY)
      .refine((value) => value >= MIN_TRANSITION_RETENTION_SECONDS, {
        error: ({ input }) =>
          `is ${String(input)}; set it to at least ${MIN_TRANSITION_RETENTION_SECONDS} (7 days): the database keeps the audit trail for that long`,
      }),
  ),
  reconcileMinAgeSeconds: setting('RECONCILE_MIN_AGE_SECONDS', seconds().default(DAY)),
  /** From the run that first finds an object without a row to the run that may delete the object. */
  orphanGraceSeconds: setting(
    'RECONCILE_ORPHAN_GRACE_SECONDS',
    seconds()
      .default(DAY)
      .refine((value) => value >= MIN_ORPHAN_GRACE_SECONDS, {
        error: ({ input }) =>
          `is ${String(input)}; set it to ${MIN_ORPHAN_GRACE_SECONDS} or more, so that an operator can still prevent a wrong deletion`,
      }),
  ),
}).superRefine((sweeps, context) => {
  const visibilitySeconds = messageVisibilitySeconds(sweeps.leaseSeconds);
  if (sweeps.relayRedispatchAfterSeconds > visibilitySeconds) return;
  context.addIssue({
    code: 'custom',
    path: ['RELAY_REDISPATCH_AFTER_SECONDS'],
    message:
      `is ${sweeps.relayRedispatchAfterSeconds}; set it above ${visibilitySeconds}, the visibility timeout of a message ` +
      '(EXECUTION_LEASE_SECONDS and 4), or every message of a crashed worker is sent again',
  });
});

/** 16 characters of a random token have 96 bits, which nobody guesses at any rate of guesses. */
const MIN_TOKEN_CHARACTERS = 16;

/**
 * A browser sends a token as a password of HTTP's Basic authentication, whose characters differ between
 * browsers beyond ASCII.
 */
const token = () =>
  secret(
    `${MIN_TOKEN_CHARACTERS} or more printable ASCII characters without spaces`,
    (value) => value.length >= MIN_TOKEN_CHARACTERS && /^[\x21-\x7e]+$/.test(value),
  )
    .nullable()
    .default(null);

/** null: OPS_PORT is not set, and there is no operations page. */
const operationsSettings = groups({
  port: setting('OPS_PORT', port().optional()),
  host: setting('OPS_HOST', text('an address to listen on').default('127.0.0.1')),
  /** Where browsers reach the page through a proxy; null: at the address that it listens on. */
  url: setting(
    'OPS_URL',
    httpUrl('https://ops.example.org')
      .transform((url) => new URL(url))
      .nullable()
      .default(null),
  ),
  /** Reads and acts; null: nobody may act with a token. */
  token: setting('OPS_TOKEN', token()),
  /** Reads; null: there is none. */
  readToken: setting('OPS_READ_TOKEN', token()),
  /** null: operators sign in with tokens alone. */
  oidc: operatorOidcEnv,
}).transform(({ port: opsPort, ...page }, context) => {
  if (opsPort === undefined) return null;
  const wrong = (name: string, message: string) => {
    context.addIssue({ code: 'custom', path: [name], message });
  };
  const { host, url, token: acting, readToken: reading, oidc } = page;
  if (!isLoopback(host)) {
    const others = `because OPS_HOST ${host} can be reached from other machines`;
    if (acting === null && reading === null && oidc === null)
      wrong(
        'OPS_TOKEN',
        `is missing; set it, or OPS_READ_TOKEN, to a random text, or set OPS_OIDC_ISSUER, ${others}`,
      );
    if (url === null)
      wrong('OPS_URL', `is missing; set it to the URL of the operations page in a browser, ${others}`);
  }
  if (oidc !== null && url === null)
    wrong(
      'OPS_URL',
      'is missing; set it to the URL of the operations page in a browser, to which the identity provider sends operators back, or unset OPS_OIDC_ISSUER',
    );
  if (acting !== null && acting === reading)
    wrong('OPS_READ_TOKEN', 'is the same as OPS_TOKEN; set it to another text');
  return { ...page, port: opsPort };
});

const configSchema = groups({
  log: logEnv,
  database: databaseEnv,
  aws: awsEnv,
  queues: queueEnv,
  bucket: bucketEnv,
  metrics: metricsEnv(9466),
  uploadRetry: uploadRetryEnv,
  jobRetry: jobRetryEnv,
  idempotencyRetentionSeconds: idempotencyRetentionEnv,
  /** Only MAX_STORED_BYTES is shown; each quota lets rescue-stranded count older pastes. */
  quotas: quotaEnv,
  sweeps: sweepSettings,
  sweepIntervalSeconds: sweepIntervals,
  stateMetricsIntervalSeconds: setting('STATE_METRICS_INTERVAL_SECONDS', intervalSeconds().default(15)),
  tracing: tracingEnv,
  operations: operationsSettings,
});

export type JanitorConfig = z.output<typeof configSchema>;

/** How far ahead the times of open work can be with these settings. */
export function timeBoundsOf({ uploadRetry, jobRetry, sweeps }: JanitorConfig): TimeBounds {
  const delaySeconds = {
    upload: longestDelayMs(uploadRetry) / 1000,
    job: longestDelayMs(jobRetry) / 1000,
  };
  return { delaySeconds, leaseSeconds: sweeps.leaseSeconds };
}

export type OperationsConfig = NonNullable<JanitorConfig['operations']>;

/** @throws ConfigError naming every problem */
export function loadJanitorConfig(env: Environment): JanitorConfig {
  return loadConfig(configSchema, env);
}
