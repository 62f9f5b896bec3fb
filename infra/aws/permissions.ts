import type * as s3 from 'aws-cdk-lib/aws-s3';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type * as sqs from 'aws-cdk-lib/aws-sqs';
import { readResources } from '../resources.ts';
import type { DataStack } from './data-stack.ts';

type Data = Pick<DataStack, 'bucket' | 'uploads' | 'jobs'>;

const { prefixes, owner } = readResources().bucket;

/** A service compares the owner of the bucket at its start, and writes it into an empty bucket. */
const OWN = ['s3:GetObject', 's3:PutObject'];

/** Every service resolves a queue's URL by name, and reads its depth. */
const LOOK = ['sqs:GetQueueUrl', 'sqs:GetQueueAttributes'];
const CONSUME = ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:ChangeMessageVisibility'];
const SEND = ['sqs:SendMessage'];
/**
 * Removes what a crashed attempt has left: its object, and the parts of a multipart upload that was never
 * completed.
 */
const CLEAR = ['s3:DeleteObject', 's3:AbortMultipartUpload'];

/**
 * Serves content, signs the URLs of exports, and sends messages for what it has created. The api can neither
 * write nor delete an object.
 */
export function apiPermissions({ bucket, uploads, jobs }: Data): PolicyStatement[] {
  return [
    seeBucket(bucket),
    onObjects('ReadContent', bucket, ['s3:GetObject'], [prefixes.pastes, prefixes.jobs]),
    onQueues('SendMessages', [uploads.queue, jobs.queue], [...LOOK, ...SEND]),
  ];
}

/**
 * Writes content and exports, and reads both: what it exports, and what it has put when the answer proves
 * nothing. The worker can't delete content, only what an attempt at an export has left behind, including the
 * parts of a multipart upload.
 */
export function uploadWorkerPermissions({ bucket, uploads, jobs }: Data): PolicyStatement[] {
  return [
    seeBucket(bucket, 's3:ListBucketMultipartUploads'),
    onObject('OwnBucket', bucket, OWN, owner),
    onObjects('WriteContent', bucket, ['s3:PutObject'], [prefixes.pastes, prefixes.jobs]),
    onObjects('ReadContent', bucket, ['s3:GetObject'], [prefixes.pastes, prefixes.jobs]),
    onObjects('ClearExports', bucket, CLEAR, [prefixes.jobs]),
    onQueues('Consume', [uploads.queue, jobs.queue], [...LOOK, ...CONSUME]),
    onQueues('SendImported', [uploads.queue], SEND),
    // The worker moves a malformed message there at once, instead of after a hundred receives.
    onQueues('Bury', [uploads.deadLetters, jobs.deadLetters], ['sqs:GetQueueUrl', ...SEND]),
  ];
}

/**
 * Deletes objects, but no versions, and reads the bucket's owner, and the content of reported pastes; sends the messages that the api could
 * not send; empties the dead-letter queues, and returns the messages that it can't move (`ops
 * retry-dead-letters`). With a tunnel to the operations page, the CDK adds the four actions of `ssmmessages`.
 */
export function janitorPermissions({ bucket, uploads, jobs }: Data): PolicyStatement[] {
  return [
    seeBucket(
      bucket,
      's3:ListBucketMultipartUploads',
      // How long the bucket keeps what is deleted.
      's3:GetBucketVersioning',
      's3:GetLifecycleConfiguration',
      's3:GetBucketObjectLockConfiguration',
    ),
    onObject('OwnBucket', bucket, OWN, owner),
    onObjects('ReadAndDeleteContent', bucket, ['s3:GetObject', 's3:DeleteObject'], [prefixes.pastes]),
    onObjects('ClearExports', bucket, CLEAR, [prefixes.jobs]),
    onQueues('Relay', [uploads.queue, jobs.queue], [...LOOK, ...SEND]),
    onQueues('ReadDeadLetters', [uploads.deadLetters, jobs.deadLetters], [...LOOK, ...CONSUME]),
  ];
}

/**
 * For HeadBucket (readiness) and for the janitor's listing. Without this right, S3 answers 403 instead of 404
 * for a missing object.
 */
function seeBucket(bucket: s3.IBucket, ...more: string[]): PolicyStatement {
  return new PolicyStatement({
    sid: 'SeeBucket',
    actions: ['s3:ListBucket', ...more],
    resources: [bucket.bucketArn],
  });
}

function onObjects(
  sid: string,
  bucket: s3.IBucket,
  actions: string[],
  keyPrefixes: readonly string[],
): PolicyStatement {
  return new PolicyStatement({
    sid,
    actions,
    resources: keyPrefixes.map((prefix) => bucket.arnForObjects(`${prefix}*`)),
  });
}

function onObject(sid: string, bucket: s3.IBucket, actions: string[], key: string): PolicyStatement {
  return new PolicyStatement({ sid, actions, resources: [bucket.arnForObjects(key)] });
}

function onQueues(sid: string, queues: readonly sqs.IQueue[], actions: string[]): PolicyStatement {
  return new PolicyStatement({ sid, actions, resources: queues.map(({ queueArn }) => queueArn) });
}
