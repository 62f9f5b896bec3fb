import { DEFAULT_QUEUES } from './queues.ts';
import { DEFAULT_BUCKET, type AwsEmulator } from './start-aws-emulator.ts';

/** The variables with which the AWS SDK and the services use the emulator, which accepts any credentials. */
export function awsEnvironment(
  emulator: Pick<AwsEmulator, 'endpoint' | 'region'>,
  names: { bucket?: string; uploadQueue?: string; jobQueue?: string } = {},
): Record<string, string> {
  return {
    AWS_ENDPOINT_URL: emulator.endpoint,
    AWS_REGION: emulator.region,
    AWS_ACCESS_KEY_ID: 'pasteflow',
    AWS_SECRET_ACCESS_KEY: 'pasteflow',
    S3_BUCKET: names.bucket ?? DEFAULT_BUCKET,
    UPLOAD_QUEUE_NAME: names.uploadQueue ?? DEFAULT_QUEUES.uploads,
    JOB_QUEUE_NAME: names.jobQueue ?? DEFAULT_QUEUES.jobs,
  };
}
