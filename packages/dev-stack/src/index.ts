export { awsEnvironment } from './aws/environment.ts';
export { DEFAULT_QUEUES, queueDefinitions, type QueueDefinition, type QueueNames } from './aws/queues.ts';
export {
  DEFAULT_BUCKET,
  DEFAULT_REGION,
  startAwsEmulator,
  type AwsEmulator,
  type AwsEmulatorOptions,
} from './aws/start-aws-emulator.ts';
export { startPostgres, type Postgres, type PostgresOptions } from './postgres/start-postgres.ts';
export { StackError, type StackErrorCode } from './stack-error.ts';
