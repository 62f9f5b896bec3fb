import { DEFAULT_LEASE_SECONDS } from '@pasteflow/domain';
import {
  awsEnv,
  bucketEnv,
  databaseEnv,
  groups,
  leaseSeconds,
  logEnv,
  metricsEnv,
  milliseconds,
  positiveInteger,
  queueEnv,
  retryEnv,
} from '@pasteflow/runtime';
import { z } from 'zod';

export interface UploadConfig {
  /** Consumers in this process, each with up to 10 uploads at a time. */
  readonly consumers: number;
  readonly putTimeoutMs: number;
  readonly leaseSeconds: number;
}

const uploadEnv: z.ZodType<UploadConfig> = z
  .object({
    UPLOAD_CONCURRENCY: positiveInteger({ most: 100 }).default(4),
    S3_PUT_TIMEOUT_MS: milliseconds({ least: 100, most: 600_000 }).default(10_000),
    EXECUTION_LEASE_SECONDS: leaseSeconds().default(DEFAULT_LEASE_SECONDS),
  })
  .transform((env) => ({
    consumers: env.UPLOAD_CONCURRENCY,
    putTimeoutMs: env.S3_PUT_TIMEOUT_MS,
    leaseSeconds: env.EXECUTION_LEASE_SECONDS,
  }));

export const configSchema = groups({
  log: logEnv,
  metrics: metricsEnv(9465),
  database: databaseEnv,
  aws: awsEnv,
  bucket: bucketEnv,
  queues: queueEnv,
  retry: retryEnv,
  upload: uploadEnv,
});

export type Config = z.output<typeof configSchema>;
