// The settings that several services share.
import {
  DEFAULT_LEASE_SECONDS,
  DEFAULT_MAX_PASTE_BYTES,
  MAX_JOB_LOSSES,
  defaultRetryPolicy,
} from '@pasteflow/domain';
import { databaseUrlProblem, durabilitySettings } from '@pasteflow/postgres';
import {
  groups,
  httpUrl,
  listOf,
  millisecondsList,
  nonNegativeInteger,
  oneOf,
  positiveInteger,
  seconds,
  secret,
  setting,
  text,
  variable,
} from '@pasteflow/runtime';
import { z } from 'zod';

const SERVERS = {
  AWS_ENDPOINT_URL: 'S3 and SQS',
  AWS_ENDPOINT_URL_S3: 'S3',
  AWS_ENDPOINT_URL_SQS: 'SQS',
} as const;

function missing(context: z.RefinementCtx, name: keyof typeof SERVERS): void {
  const message =
    `is missing; set it to the URL of the ${SERVERS[name]} server, like http://127.0.0.1:4566, ` +
    'or set PASTEFLOW_STACK=aws to use AWS itself';
  context.addIssue({ code: 'custom', path: [name], message });
}

/**
 * AWS itself is used only with PASTEFLOW_STACK=aws, so that a forgotten endpoint does not end in somebody's
 * account.
 */
export const awsEnv = groups({
  region: setting('AWS_REGION', text('an AWS region, e.g. us-east-1').default('us-east-1')),
  endpoint: setting('AWS_ENDPOINT_URL', httpUrl().optional()),
  s3Endpoint: setting('AWS_ENDPOINT_URL_S3', httpUrl().optional()),
  sqsEndpoint: setting('AWS_ENDPOINT_URL_SQS', httpUrl().optional()),
  stack: setting('PASTEFLOW_STACK', oneOf(['aws']).optional()),
  /** How contents are put and read, and messages sent, received and deleted: without the middleware of the AWS SDK, or by the SDK. */
  requests: setting('S3_REQUESTS', oneOf(['direct', 'sdk']).default('direct')),
}).transform(({ endpoint, stack, region, requests, ...own }, context) => {
  const s3Endpoint = own.s3Endpoint ?? endpoint;
  const sqsEndpoint = own.sqsEndpoint ?? endpoint;
  if (stack !== 'aws') {
    if (s3Endpoint === undefined)
      missing(context, sqsEndpoint === undefined ? 'AWS_ENDPOINT_URL' : 'AWS_ENDPOINT_URL_S3');
    else if (sqsEndpoint === undefined) missing(context, 'AWS_ENDPOINT_URL_SQS');
  }
  return { region, requests, s3Endpoint, sqsEndpoint };
});

/** The name of the bucket that holds the objects. */
export const bucketEnv = setting(
  'S3_BUCKET',
  z
    .string()
    .regex(
      /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/,
      'is not a bucket name; set it to 3 to 63 lower-case letters, digits, dots and hyphens',
    )
    .default('pasteflow'),
);

const databaseUrl = z
  .string({ error: 'is missing; set it to a URL like postgres://user:password@127.0.0.1:5432/pasteflow' })
  .superRefine((url, context) => {
    const problem = databaseUrlProblem(url);
    if (problem !== null) context.addIssue(problem);
  });

export const databaseEnv = groups({
  url: setting('DATABASE_URL', databaseUrl),
  /** The maximum number of connections that one process opens. */
  poolSize: setting('DATABASE_POOL_SIZE', positiveInteger().default(10)),
  /** Whether connections keep the hot statements and their plans. */
  preparedStatements: setting(
    'PREPARED_STATEMENTS',
    oneOf(['on', 'off'])
      .default('on')
      .transform((value) => value === 'on'),
  ),
  /** The settings of Postgres that may be unsafe: without them it can lose pastes that were answered 201. */
  mayLoseDataBy: setting('ALLOW_POSTGRES_TO_LOSE_DATA', listOf(durabilitySettings).default([])),
});

const retryDelays = millisecondsList().default([...defaultRetryPolicy.delaysMs]);

/** Enough to spread the retries of what failed at the same moment, and a fifth of the shortest wait at most. */
const jitterOf = (delaysMs: readonly number[]) =>
  Math.min(defaultRetryPolicy.jitterMs, Math.floor(Math.min(...delaysMs) / 5));

/** Default: `defaultRetryPolicy`. */
export const uploadRetryEnv = setting('UPLOAD_RETRY_DELAYS_MS', retryDelays).transform((delaysMs) => ({
  delaysMs,
  jitterMs: jitterOf(delaysMs),
}));

/** Default: `defaultRetryPolicy`. A job, unlike an upload, is given up after `MAX_JOB_LOSSES` losses. */
export const jobRetryEnv = setting('JOB_RETRY_DELAYS_MS', retryDelays).transform((delaysMs) => ({
  delaysMs,
  jitterMs: jitterOf(delaysMs),
  maxLosses: MAX_JOB_LOSSES,
}));

const origins = variable('origins like https://hooks.example.com:8443, separated by commas', (text) => {
  const parts = text.split(',').map((part) => part.trim());
  const isOrigin = (part: string) =>
    /^https?:$/.test(URL.parse(part)?.protocol ?? '') && URL.parse(part)?.origin === part;
  return parts.every(isOrigin) ? new Set(parts) : undefined;
});

/** Webhooks; null: they are off, because there is no key. */
export interface WebhookSettings {
  /** The secrets of all endpoints are derived from it. */
  readonly key: string;
  /** Origins to which events may be sent although they are not public https on port 443. */
  readonly origins: ReadonlySet<string>;
}

export const webhookEnv = groups({
  key: setting(
    'WEBHOOK_KEY',
    secret(
      'at least 32 random characters, e.g. those of `openssl rand -base64 32`',
      (key) => key.length >= 32,
    ).optional(),
  ),
  origins: setting('WEBHOOK_ORIGINS', origins.default(new Set())),
}).transform(({ key, origins }): WebhookSettings | null => (key === undefined ? null : { key, origins }));

/**
 * The variable EXECUTION_LEASE_SECONDS, from 1 to 3600: a shorter lease cannot be renewed in time, and SQS
 * hides a message for 12 hours at most.
 */
export function leaseSeconds(): z.ZodType<number, string | undefined> {
  return variable('seconds from 1 to 3600, e.g. 6', (text) => {
    const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : NaN;
    return value >= 1 && value <= 3600 ? value : undefined;
  }).default(DEFAULT_LEASE_SECONDS);
}

/**
 * How long the answer to a request with an Idempotency-Key is kept. The api replays it until then; the
 * janitor removes it afterwards.
 */
export const idempotencyRetentionEnv = setting('IDEMPOTENCY_RETENTION_SECONDS', seconds().default(86_400));

/**
 * A JSON string needs up to six characters for a byte, and the longest string of V8 has 2^29 - 24 characters.
 */
const LARGEST_MAX_PASTE_BYTES = 64 * 1024 * 1024;

/** JOB_TYPES: the file of the operator's own job types; null: there is none. */
export const jobTypesEnv = setting(
  'JOB_TYPES',
  text('the absolute path of a file of job types').nullable().default(null),
);

/** The maximum size of a paste's content in bytes, for requests and for jobs. */
export const maxPasteBytesEnv = setting(
  'MAX_PASTE_BYTES',
  positiveInteger()
    .pipe(
      z.number().max(LARGEST_MAX_PASTE_BYTES, `is too large; set it to at most ${LARGEST_MAX_PASTE_BYTES}`),
    )
    .default(DEFAULT_MAX_PASTE_BYTES),
);

/** Where browsers and other clients reach the api, without a trailing slash. */
export const publicUrlEnv = setting(
  'PUBLIC_URL',
  httpUrl('https://paste.example.org')
    .transform((url) => url.replace(/(?<!\/)\/+$/, ''))
    .optional(),
);

/** 0: no quota. */
const quota = () =>
  nonNegativeInteger()
    .default(0)
    .transform((most) => most || null);

/** How much may be stored; null: there are no quotas, and nothing is counted for them. */
export const quotaEnv = groups({
  maxPastes: setting('MAX_PASTES_PER_USER', quota()),
  maxBytes: setting('MAX_STORED_BYTES_PER_USER', quota()),
  maxStoredPastes: setting('MAX_PASTES', quota()),
  maxStoredBytes: setting('MAX_STORED_BYTES', quota()),
}).transform((quotas) => (Object.values(quotas).every((each) => each === null) ? null : quotas));

/** SQS allows 80 characters; 13 of them are reserved for `-dead-letters`. */
const queueName = z
  .string()
  .regex(/^[\w-]{1,67}$/, 'is not a queue name; set it to 1 to 67 letters, digits, hyphens and underscores');

/** The name of a dead-letter queue is its queue's name followed by `-dead-letters`. */
export const queueEnv = groups({
  uploads: setting('UPLOAD_QUEUE_NAME', queueName.default('pasteflow-uploads')),
  jobs: setting('JOB_QUEUE_NAME', queueName.default('pasteflow-jobs')),
  /** Whether messages carry content. Otherwise the worker reads every payload. */
  withContent: setting(
    'MESSAGE_CONTENT',
    oneOf(['on', 'off'])
      .default('on')
      .transform((value) => value === 'on'),
  ),
});
