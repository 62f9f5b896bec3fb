import { DEFAULT_MAX_PASTE_BYTES, defaultRetryPolicy, type RetryPolicy } from '@pasteflow/domain';
import { z } from 'zod';
import {
  httpUrl,
  milliseconds,
  millisecondsList,
  oneOf,
  port,
  positiveInteger,
  seconds,
  text,
  url,
} from './variables.ts';

/** `poolSize` is the most connections one process opens. */
export interface DatabaseConfig {
  readonly url: string;
  readonly poolSize: number;
}

export const databaseEnv: z.ZodType<DatabaseConfig> = z
  .object({
    DATABASE_URL: url(['postgres:', 'postgresql:'], 'postgres://user:password@127.0.0.1:5432/pasteflow'),
    DATABASE_POOL_SIZE: positiveInteger().default(10),
  })
  .transform((env) => ({ url: env.DATABASE_URL, poolSize: env.DATABASE_POOL_SIZE }));

/** An endpoint that isn't there means AWS itself, with the SDK's own resolution. */
export interface AwsConfig {
  readonly region: string;
  readonly s3Endpoint?: string;
  readonly sqsEndpoint?: string;
}

/** Real AWS has to be asked for: a forgotten endpoint must not end in somebody's account. */
export const awsEnv: z.ZodType<AwsConfig> = z
  .object({
    AWS_REGION: text('an AWS region, e.g. us-east-1').default('us-east-1'),
    AWS_ENDPOINT_URL: httpUrl().optional(),
    AWS_ENDPOINT_URL_S3: httpUrl().optional(),
    AWS_ENDPOINT_URL_SQS: httpUrl().optional(),
    PASTEFLOW_STACK: oneOf(['aws']).optional(),
  })
  .transform((env, context) => {
    const s3Endpoint = env.AWS_ENDPOINT_URL_S3 ?? env.AWS_ENDPOINT_URL;
    const sqsEndpoint = env.AWS_ENDPOINT_URL_SQS ?? env.AWS_ENDPOINT_URL;
    if (s3Endpoint === undefined && sqsEndpoint === undefined && env.PASTEFLOW_STACK !== 'aws') {
      context.addIssue({
        code: 'custom',
        path: ['AWS_ENDPOINT_URL'],
        message:
          'is missing; set it to the URL of an S3 and SQS emulator like http://127.0.0.1:4566, ' +
          'or set PASTEFLOW_STACK=aws to use AWS itself',
      });
    }
    return {
      region: env.AWS_REGION,
      ...(s3Endpoint === undefined ? {} : { s3Endpoint }),
      ...(sqsEndpoint === undefined ? {} : { sqsEndpoint }),
    };
  });

/** Each queue's dead-letter queue has the same name with `-dead-letters` behind it. */
export interface QueueConfig {
  readonly uploads: string;
  readonly jobs: string;
}

/** SQS: up to 80 characters; 13 of them are kept for `-dead-letters`. */
const queueName = z
  .string()
  .regex(/^[\w-]{1,67}$/, 'is no queue name; set it to 1 to 67 letters, digits, hyphens and underscores');

export const queueEnv: z.ZodType<QueueConfig> = z
  .object({
    UPLOAD_QUEUE_NAME: queueName.default('pasteflow-uploads'),
    JOB_QUEUE_NAME: queueName.default('pasteflow-jobs'),
  })
  .transform((env) => ({ uploads: env.UPLOAD_QUEUE_NAME, jobs: env.JOB_QUEUE_NAME }));

/** The name of the bucket that holds the objects. */
export const bucketEnv: z.ZodType<string> = z
  .object({
    S3_BUCKET: z
      .string()
      .regex(
        /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/,
        'is no bucket name; set it to 3 to 63 lower-case letters, digits, dots and hyphens',
      )
      .default('pasteflow'),
  })
  .transform((env) => env.S3_BUCKET);

/** JSON of six times the size has to fit into one string, and V8's longest has 2^29 - 24 characters. */
const MOST_PASTE_BYTES = 64 * 1024 * 1024;

/** How long a paste's content may be, in bytes: the same for what comes in by a request and by a job. */
export const maxPasteBytesEnv: z.ZodType<number> = z
  .object({
    MAX_PASTE_BYTES: positiveInteger()
      .pipe(z.number().max(MOST_PASTE_BYTES, `is too large; set it to at most ${MOST_PASTE_BYTES}`))
      .default(DEFAULT_MAX_PASTE_BYTES),
  })
  .transform((env) => env.MAX_PASTE_BYTES);

/** For how long the answer to a request with an Idempotency-Key is kept: the api replays it until then, the janitor removes it after that. */
export const idempotencyRetentionEnv: z.ZodType<number> = z
  .object({ IDEMPOTENCY_RETENTION_SECONDS: seconds().default(86_400) })
  .transform((env) => env.IDEMPOTENCY_RETENTION_SECONDS);

const retryDelays = millisecondsList().default([...defaultRetryPolicy.delaysMs]);
const retryJitter = milliseconds().default(defaultRetryPolicy.jitterMs);

/** R3, unless told otherwise: see `defaultRetryPolicy`. */
export const uploadRetryEnv: z.ZodType<RetryPolicy> = z
  .object({ UPLOAD_RETRY_DELAYS_MS: retryDelays, UPLOAD_RETRY_JITTER_MS: retryJitter })
  .transform((env) => ({ delaysMs: env.UPLOAD_RETRY_DELAYS_MS, jitterMs: env.UPLOAD_RETRY_JITTER_MS }));

/** The same for jobs. */
export const jobRetryEnv: z.ZodType<RetryPolicy> = z
  .object({ JOB_RETRY_DELAYS_MS: retryDelays, JOB_RETRY_JITTER_MS: retryJitter })
  .transform((env) => ({ delaysMs: env.JOB_RETRY_DELAYS_MS, jitterMs: env.JOB_RETRY_JITTER_MS }));

export interface MetricsConfig {
  readonly host: string;
  readonly port: number;
}

/** Where /healthz, /readyz and /metrics are served. Each service has its own default port, so that all three run on one host. */
export function metricsEnv(defaultPort: number): z.ZodType<MetricsConfig> {
  return z
    .object({
      METRICS_HOST: text('an address to listen on').default('127.0.0.1'),
      METRICS_PORT: port().default(defaultPort),
    })
    .transform((env) => ({ host: env.METRICS_HOST, port: env.METRICS_PORT }));
}
