import { randomBytes } from 'node:crypto';
import {
  AbortMultipartUploadCommand,
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteObjectsCommand,
  ListMultipartUploadsCommand,
  ListObjectVersionsCommand,
  PutBucketVersioningCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { CreateQueueCommand, DeleteQueueCommand, GetQueueUrlCommand, SQSClient } from '@aws-sdk/client-sqs';
import {
  DEFAULT_BUCKET,
  DEFAULT_QUEUES,
  DEFAULT_REGION,
  queueDefinitions,
  type QueueNames,
} from '@pasteflow/dev-stack';

/** The S3 and SQS of a cluster of services: a bucket and queues that only this cluster uses. */
export interface Aws {
  /** The endpoints of S3 and of SQS. */
  readonly s3: string;
  readonly sqs: string;
  readonly bucket: string;
  readonly queues: QueueNames;
  /**
   * How long a message may stay hidden after it was sent to a client that has disconnected. 0: not at all.
   */
  readonly abandonedReceiveMs: number;
}

/** The emulator of an embedded stack. */
export function embeddedAws(endpoint: string): Aws {
  const queues = DEFAULT_QUEUES;
  return { s3: endpoint, sqs: endpoint, bucket: DEFAULT_BUCKET, queues, abandonedReceiveMs: 0 };
}

/** The emulator and LocalStack accept any credentials. The servers of one machine are started with these. */
export const CREDENTIALS = { accessKeyId: 'pasteflow', secretAccessKey: 'pasteflow' };

export function s3ClientOf(endpoint: string): S3Client {
  return new S3Client({ endpoint, region: DEFAULT_REGION, credentials: CREDENTIALS, forcePathStyle: true });
}

export function sqsClientOf(endpoint: string): SQSClient {
  return new SQSClient({
    endpoint,
    region: DEFAULT_REGION,
    credentials: CREDENTIALS,
    useQueueUrlAsEndpoint: false,
  });
}

/** Created in an S3 and SQS that others use too, and removed at the end. */
export interface OwnAws extends Aws {
  remove(): Promise<void>;
}

/** The S3 and SQS for the tests. Undefined: the tests use the emulator. */
export function externalEndpoints(): Pick<Aws, 's3' | 'sqs'> | undefined {
  // oxlint-disable-next-line node/no-process-env -- selects LocalStack, or other servers, for a run of all tests
  const { env } = process;
  const { AWS_ENDPOINT_URL: both, AWS_ENDPOINT_URL_S3: s3 = both, AWS_ENDPOINT_URL_SQS: sqs = both } = env;
  return s3 && sqs ? { s3, sqs } : undefined;
}

/** LocalStack checks once a second which messages become visible. */
const LOCALSTACK_LATE_MS = 1000;

/**
 * Like AWS, other servers do not notice that a client has disconnected: the message then stays hidden for the
 * 10 s of our receives.
 */
export const ABANDONED_RECEIVE_MS = 10_000 + LOCALSTACK_LATE_MS;

/** Creates a bucket and queues with unique names, from the description that LocalStack and AWS use. */
export async function makeOwnAws(endpoints: Pick<Aws, 's3' | 'sqs'>): Promise<OwnAws> {
  const prefix = `pasteflow-e2e-${randomBytes(6).toString('hex')}`;
  const queues = { uploads: `${prefix}-uploads`, jobs: `${prefix}-jobs` };
  const definitions = queueDefinitions(queues, DEFAULT_REGION);
  const s3 = s3ClientOf(endpoints.s3);
  const sqs = sqsClientOf(endpoints.sqs);
  await s3.send(new CreateBucketCommand({ Bucket: prefix }));
  await s3.send(
    new PutBucketVersioningCommand({ Bucket: prefix, VersioningConfiguration: { Status: 'Enabled' } }),
  );
  for (const { name, attributes } of definitions)
    await sqs.send(new CreateQueueCommand({ QueueName: name, Attributes: attributes }));
  return {
    ...endpoints,
    bucket: prefix,
    queues,
    abandonedReceiveMs: ABANDONED_RECEIVE_MS,
    remove: async () => {
      for (const { name } of definitions) {
        const { QueueUrl } = await sqs.send(new GetQueueUrlCommand({ QueueName: name }));
        await sqs.send(new DeleteQueueCommand({ QueueUrl }));
      }
      await removeBucket(s3, prefix);
      s3.destroy();
      sqs.destroy();
    },
  };
}

/** Tries again when the bucket isn't empty: a late request of a killed service may have put an object. */
async function removeBucket(client: S3Client, bucket: string, attempts = 5): Promise<void> {
  await empty(client, bucket);
  try {
    await client.send(new DeleteBucketCommand({ Bucket: bucket }));
  } catch (error) {
    if ((error as Error).name !== 'BucketNotEmpty' || attempts === 1) throw error;
    await removeBucket(client, bucket, attempts - 1);
  }
}

async function empty(client: S3Client, bucket: string): Promise<void> {
  for (;;) {
    const { Versions = [], DeleteMarkers = [] } = await client.send(
      new ListObjectVersionsCommand({ Bucket: bucket }),
    );
    const objects = [...Versions, ...DeleteMarkers].map(({ Key, VersionId }) => ({ Key, VersionId }));
    if (objects.length === 0) break;
    await client.send(
      new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects: objects, Quiet: true } }),
    );
  }
  const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: bucket }));
  for (const { Key, UploadId } of Uploads)
    await client.send(new AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId }));
}
