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

/** S3 and SQS under a cluster of services: a bucket and queues that it has for itself. */
export interface Aws {
  /** Of both. */
  readonly endpoint: string;
  readonly bucket: string;
  readonly queues: QueueNames;
  /** By how much a message may come back later than its visibility says. */
  readonly redeliveryLateMs: number;
  /** For how long a message may be hidden that was given to a receive whose client had gone; 0: none is. */
  readonly abandonedReceiveMs: number;
}

/** What the emulator of a stack of its own has. It comes back 12 to 16 ms late. */
export function embeddedAws(endpoint: string): Aws {
  const queues = DEFAULT_QUEUES;
  return { endpoint, bucket: DEFAULT_BUCKET, queues, redeliveryLateMs: 16, abandonedReceiveMs: 0 };
}

/** Neither the emulator nor LocalStack asks whose they are. */
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

/** Made in an S3 and SQS that others use as well, and removed at the end. */
export interface OwnAws extends Aws {
  remove(): Promise<void>;
}

/** Where the S3 and SQS are that the tests are to stand on; undefined: on the emulator. */
export function externalEndpoint(): string | undefined {
  // oxlint-disable-next-line node/no-process-env -- how a run of all tests on LocalStack is asked for
  return process.env.AWS_ENDPOINT_URL || undefined;
}

/** LocalStack looks once a second which messages' time has come. */
const LOCALSTACK_LATE_MS = 1000;

/** It doesn't see that a client has gone, as AWS doesn't promise to: then a message is hidden for the 10 s that our receives ask for. */
const LOCALSTACK_ABANDONED_MS = 10_000 + LOCALSTACK_LATE_MS;

/** A bucket and queues of names that nobody else has, by the description that LocalStack and AWS get theirs from. */
export async function makeOwnAws(endpoint: string): Promise<OwnAws> {
  const prefix = `pasteflow-e2e-${randomBytes(6).toString('hex')}`;
  const queues = { uploads: `${prefix}-uploads`, jobs: `${prefix}-jobs` };
  const definitions = queueDefinitions(queues, DEFAULT_REGION);
  const s3 = s3ClientOf(endpoint);
  const sqs = sqsClientOf(endpoint);
  await s3.send(new CreateBucketCommand({ Bucket: prefix }));
  await s3.send(
    new PutBucketVersioningCommand({ Bucket: prefix, VersioningConfiguration: { Status: 'Enabled' } }),
  );
  for (const { name, attributes } of definitions)
    await sqs.send(new CreateQueueCommand({ QueueName: name, Attributes: attributes }));
  return {
    endpoint,
    bucket: prefix,
    queues,
    redeliveryLateMs: LOCALSTACK_LATE_MS,
    abandonedReceiveMs: LOCALSTACK_ABANDONED_MS,
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

/** Anew when it isn't empty: a request of a service that was killed may still have been on its way. */
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
