import { longestDelayMs } from '@pasteflow/domain';
import { WEBHOOK_DELAY_SECONDS, type TimeBounds } from '@pasteflow/postgres';
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
  variable,
  type Environment,
} from '@pasteflow/runtime';
import {
  awsEnv,
  bucketEnv,
  databaseEnv,
  idempotencyRetentionEnv,
  jobRetryEnv,
  leaseSeconds,
  publicUrlEnv,
  queueEnv,
  quotaEnv,
  uploadRetryEnv,
  webhookEnv,
} from '@pasteflow/service-kit';
import type { z } from 'zod';
import { operatorOidcEnv } from './operator-oidc-env.ts';
import type { SweepName } from './sweep-names.ts';

const HOUR = 3600;
const DAY = 24 * HOUR;

/** From the end of a run to the start of the next one; of `state-metrics`, between two readings for the metrics. */
const STANDARD_INTERVALS = {
  relay: 2,
  'reap-executions': 2,
  'rescue-stranded': 30,
  cleanup: 60,
  'deletion-watchdog': 600,
  erasures: 60,
  'failed-pastes': DAY,
  'dead-letters': 60,
  jobs: DAY,
  tombstones: DAY,
  reconcile: DAY,
  'expired-keys': HOUR,
  measure: 5,
  'state-metrics': 15,
} as const satisfies Record<SweepName | 'state-metrics', number>;

type Intervals = Readonly<Record<keyof typeof STANDARD_INTERVALS, number>>;
const intervalNames = Object.keys(STANDARD_INTERVALS) as (keyof Intervals)[];

const someIntervals = variable(
  `intervals in seconds above 0 and at most 2000000, each once, e.g. cleanup=60,relay=0.5; the names are ${intervalNames.join(', ')}`,
  (list) => {
    const given: Partial<Record<keyof Intervals, number>> = {};
    for (const part of list.split(',')) {
      const [before = '', after = ''] = part.split('=', 2).map((side) => side.trim());
      const name = intervalNames.find((each) => each === before);
      const { data } = intervalSeconds().safeParse(after);
      if (name === undefined || name in given || data === undefined || part.split('=').length > 2)
        return undefined;
      given[name] = data;
    }
    return given;
  },
);

/** Of releases that had a setting for each interval, which still has its effect. */
const retiredIntervals = groups(
  Object.fromEntries(
    intervalNames.map((name) => [
      name,
      setting(
        `${name.toUpperCase().replaceAll('-', '_')}_INTERVAL_SECONDS`,
        intervalSeconds().default(STANDARD_INTERVALS[name]),
      ),
    ]),
  ) as Record<keyof Intervals, z.ZodType<number>>,
);

const sweepIntervals: z.ZodType<Intervals> = groups({
  given: setting('SWEEP_INTERVALS', someIntervals.default({})),
  retired: retiredIntervals,
}).transform(({ given, retired }) => ({ ...retired, ...given }));

/** For so long the database keeps the audit trail. */
const MIN_TRANSITION_RETENTION_SECONDS = 7 * DAY;

const sweepSettings = groups({
  /** The lease of the executions that dead-letters claims before it ends them. */
  leaseSeconds: setting('EXECUTION_LEASE_SECONDS', leaseSeconds()),
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
  /** Only MAX_PASTES and MAX_STORED_BYTES are shown; each quota lets rescue-stranded count older pastes. */
  quotas: quotaEnv,
  sweeps: sweepSettings,
  sweepIntervalSeconds: sweepIntervals,
  /** `ops add-webhook`; null: webhooks are off. */
  webhooks: webhookEnv,
  /** `ops invite`; undefined: it makes no links. */
  publicUrl: publicUrlEnv,
  tracing: tracingEnv,
  operations: operationsSettings,
});

export type JanitorConfig = z.output<typeof configSchema>;

/** How far ahead the times of open work can be with these settings. */
export function timeBoundsOf({ uploadRetry, jobRetry, sweeps }: JanitorConfig): TimeBounds {
  const delaySeconds = {
    upload: longestDelayMs(uploadRetry) / 1000,
    job: longestDelayMs(jobRetry) / 1000,
    webhook: WEBHOOK_DELAY_SECONDS,
  };
  return { delaySeconds, leaseSeconds: sweeps.leaseSeconds };
}

export type OperationsConfig = NonNullable<JanitorConfig['operations']>;

/** @throws ConfigError naming every problem */
export function loadJanitorConfig(env: Environment): JanitorConfig {
  return loadConfig(configSchema, env);
}
