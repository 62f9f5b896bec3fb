export { DEFAULT_QUEUES, queueDefinitions, type QueueNames } from './aws/queues.ts';
export {
  DEFAULT_BUCKET,
  DEFAULT_REGION,
  startAwsEmulator,
  type AwsEmulator,
} from './aws/start-aws-emulator.ts';
export { startPostgres } from './postgres/start-postgres.ts';
export { StackError } from './stack-error.ts';
