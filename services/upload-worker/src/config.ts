import {
  groups,
  listOf,
  logEnv,
  metricsEnv,
  milliseconds,
  oneOf,
  positiveInteger,
  tracingEnv,
} from '@pasteflow/runtime';
import {
  awsEnv,
  bucketEnv,
  databaseEnv,
  jobRetryEnv,
  leaseSeconds,
  maxPasteBytesEnv,
  queueEnv,
  uploadRetryEnv,
} from '@pasteflow/service-kit';
import { z } from 'zod';

/** The queues that a worker can consume. */
const queueKinds = ['uploads', 'jobs'] as const;
type QueueKind = (typeof queueKinds)[number];

interface UploadConfig {
  /** Consumers in this process, each with up to 10 uploads at a time. */
  readonly consumers: number;
  readonly putTimeoutMs: number;
  readonly leaseSeconds: number;
  /** How new objects are compressed. What is stored already stays as it is. */
  readonly compression: 'gzip' | 'off';
}

const uploadEnv: z.ZodType<UploadConfig> = z
  .object({
    UPLOAD_CONCURRENCY: positiveInteger({ max: 100 }).default(4),
    S3_PUT_TIMEOUT_MS: milliseconds({ min: 100, max: 600_000 }).default(10_000),
    EXECUTION_LEASE_SECONDS: leaseSeconds(),
    CONTENT_COMPRESSION: oneOf(['gzip', 'off']).default('gzip'),
  })
  .transform((env) => ({
    consumers: env.UPLOAD_CONCURRENCY,
    putTimeoutMs: env.S3_PUT_TIMEOUT_MS,
    leaseSeconds: env.EXECUTION_LEASE_SECONDS,
    compression: env.CONTENT_COMPRESSION,
  }));

interface JobConfig {
  /** Jobs at a time in this process. */
  readonly consumers: number;
}

const jobEnv: z.ZodType<JobConfig> = z
  .object({ JOB_CONCURRENCY: positiveInteger({ max: 100 }).default(2) })
  .transform((env) => ({ consumers: env.JOB_CONCURRENCY }));

/** Uploads and jobs can be scaled apart: a worker consumes what it is told to, by default both. */
const consumedEnv: z.ZodType<readonly QueueKind[]> = z
  .object({ UPLOAD_WORKER_QUEUES: listOf(queueKinds).default(queueKinds) })
  .transform((env) => env.UPLOAD_WORKER_QUEUES);

export const configSchema = groups({
  log: logEnv,
  metrics: metricsEnv(9465),
  database: databaseEnv,
  aws: awsEnv,
  bucket: bucketEnv,
  queues: queueEnv,
  consumed: consumedEnv,
  maxPasteBytes: maxPasteBytesEnv,
  uploadRetry: uploadRetryEnv,
  jobRetry: jobRetryEnv,
  upload: uploadEnv,
  job: jobEnv,
  tracing: tracingEnv,
});

export type Config = z.output<typeof configSchema>;
