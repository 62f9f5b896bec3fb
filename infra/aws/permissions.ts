import type * as s3 from 'aws-cdk-lib/aws-s3';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type * as sqs from 'aws-cdk-lib/aws-sqs';
import { readResources } from '../resources.ts';
import type { DataStack } from './data-stack.ts';

type Data = Pick<DataStack, 'bucket' | 'uploads' | 'jobs'>;

const { prefixes } = readResources().bucket;

/** Every service looks a queue's URL up by name, and asks for its depth. */
const LOOK = ['sqs:GetQueueUrl', 'sqs:GetQueueAttributes'];
const CONSUME = ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:ChangeMessageVisibility'];
const SEND = ['sqs:SendMessage'];
/** What an attempt that died has left: its object, and the parts of an upload that never became one. */
const CLEAR = ['s3:DeleteObject', 's3:AbortMultipartUpload'];

/** Serves content and signs the URLs of exports; sends what it has created. It can neither write nor delete an object. */
export function apiPermissions({ bucket, uploads, jobs }: Data): PolicyStatement[] {
  return [
    seeBucket(bucket),
    onObjects('ReadContent', bucket, ['s3:GetObject'], [prefixes.pastes, prefixes.jobs]),
    onQueues('SendMessages', [uploads.queue, jobs.queue], [...LOOK, ...SEND]),
  ];
}

/**
 * Writes content and exports, and reads the content that it exports or imports. It deletes no content: only what an attempt at an
 * export has left behind, parts of an upload included.
 */
export function uploadWorkerPermissions({ bucket, uploads, jobs }: Data): PolicyStatement[] {
  return [
    seeBucket(bucket, 's3:ListBucketMultipartUploads'),
    onObjects('WriteContent', bucket, ['s3:PutObject'], [prefixes.pastes, prefixes.jobs]),
    onObjects('ReadPastes', bucket, ['s3:GetObject'], [prefixes.pastes]),
    onObjects('ClearExports', bucket, CLEAR, [prefixes.jobs]),
    onQueues('Consume', [uploads.queue, jobs.queue], [...LOOK, ...CONSUME]),
    onQueues('SendImported', [uploads.queue], SEND),
    // A message that can't be read goes there at once, and not after a hundred receives.
    onQueues('Bury', [uploads.deadLetters, jobs.deadLetters], ['sqs:GetQueueUrl', ...SEND]),
  ];
}

/** Deletes objects and never reads one; sends what the api couldn't; empties the dead-letter queues, and hands back what it can't move (`ops retry-dead-letters`). */
export function janitorPermissions({ bucket, uploads, jobs }: Data): PolicyStatement[] {
  return [
    seeBucket(bucket, 's3:ListBucketMultipartUploads'),
    onObjects('DeleteContent', bucket, ['s3:DeleteObject'], [prefixes.pastes]),
    onObjects('ClearExports', bucket, CLEAR, [prefixes.jobs]),
    onQueues('Relay', [uploads.queue, jobs.queue], [...LOOK, ...SEND]),
    onQueues('ReadDeadLetters', [uploads.deadLetters, jobs.deadLetters], [...LOOK, ...CONSUME]),
  ];
}

/** For HeadBucket (readiness) and for the janitor's listing; without it S3 answers 403, not 404, for an object that isn't there. */
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

function onQueues(sid: string, queues: readonly sqs.IQueue[], actions: string[]): PolicyStatement {
  return new PolicyStatement({ sid, actions, resources: queues.map(({ queueArn }) => queueArn) });
}
