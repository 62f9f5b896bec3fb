export { awsEnv, type AwsConfig } from './aws.ts';
export { bucketEnv } from './bucket.ts';
export { databaseEnv, type DatabaseConfig } from './database.ts';
export { jobRetryEnv, leaseSeconds, uploadRetryEnv } from './executions.ts';
export { idempotencyRetentionEnv } from './idempotency.ts';
export { maxPasteBytesEnv } from './pastes.ts';
export { queueEnv, type QueueConfig } from './queues.ts';
