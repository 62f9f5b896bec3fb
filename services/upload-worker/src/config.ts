import {
  groups,
  listOf,
  logEnv,
  metricsEnv,
  milliseconds,
  oneOf,
  positiveInteger,
  setting,
  tracingEnv,
} from '@pasteflow/runtime';
import {
  awsEnv,
  bucketEnv,
  databaseEnv,
  jobRetryEnv,
  jobTypesEnv,
  leaseSeconds,
  maxPasteBytesEnv,
  queueEnv,
  quotaEnv,
  uploadRetryEnv,
  webhookEnv,
} from '@pasteflow/service-kit';
import type { z } from 'zod';

/** What a worker can do: consume either queue, and send the deliveries of webhooks. */
const queueKinds = ['uploads', 'jobs', 'webhooks'] as const;

const uploadSettings = groups({
  /** Consumers in this process, each with up to 10 uploads at a time. */
  consumers: setting('UPLOAD_CONCURRENCY', positiveInteger({ max: 100 }).default(4)),
  putTimeoutMs: setting('S3_PUT_TIMEOUT_MS', milliseconds({ min: 100, max: 600_000 }).default(10_000)),
  leaseSeconds: setting('EXECUTION_LEASE_SECONDS', leaseSeconds()),
  /** How new objects are compressed. What is stored already stays as it is. */
  compression: setting('CONTENT_COMPRESSION', oneOf(['gzip', 'off']).default('gzip')),
});

export const configSchema = groups({
  log: logEnv,
  metrics: metricsEnv(9465),
  database: databaseEnv,
  aws: awsEnv,
  bucket: bucketEnv,
  queues: queueEnv,
  /** They can be scaled apart: a worker does what it is told to, by default everything. */
  consumed: setting('UPLOAD_WORKER_QUEUES', listOf(queueKinds).default(queueKinds)),
  maxPasteBytes: maxPasteBytesEnv,
  quotas: quotaEnv,
  uploadRetry: uploadRetryEnv,
  jobRetry: jobRetryEnv,
  upload: uploadSettings,
  jobTypesFile: jobTypesEnv,
  /** Jobs at a time in this process. */
  job: groups({ consumers: setting('JOB_CONCURRENCY', positiveInteger({ max: 100 }).default(2)) }),
  webhooks: webhookEnv,
  tracing: tracingEnv,
}).transform((config, context) => {
  if (config.webhooks === null && config.consumed.every((kind) => kind === 'webhooks'))
    context.addIssue({
      code: 'custom',
      path: ['UPLOAD_WORKER_QUEUES'],
      message:
        'is webhooks alone, which are off; set WEBHOOK_KEY as for the api, or name other queues as well',
    });
  return config;
});

export type Config = z.output<typeof configSchema>;
