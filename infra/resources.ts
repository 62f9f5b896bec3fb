import { readFileSync } from 'node:fs';
import type { Resources as StackResources } from '../packages/dev-stack/src/aws/queues.ts';

export type QueueDescription = StackResources['queues']['uploads'];
export type QueueSettings = QueueDescription['deadLetters'];

export interface BucketDescription {
  readonly name: string;
  /** The prefixes of the object keys: one for the content of pastes, one for the objects of jobs. */
  readonly prefixes: { readonly pastes: string; readonly jobs: string };
  /** For multipart uploads of crashed workers. Longer than any export takes. */
  readonly abortMultipartUploadsAfterDays: number;
  /** The key of the object that names the database to which the bucket belongs. */
  readonly owner: string;
  /** A deleted object can be restored for this long. */
  readonly expireOldVersionsAfterDays: number;
}

export interface Resources {
  readonly bucket: BucketDescription;
  /** The name of a dead-letter queue is the name of its queue with this suffix. */
  readonly deadLetterSuffix: string;
  readonly queues: { readonly uploads: QueueDescription; readonly jobs: QueueDescription };
}

/** SQS keeps a message for at most 14 days. */
const LONGEST_RETENTION_SECONDS = 14 * 86_400;

/**
 * resources.json: the one description of the bucket and the queues, for AWS, LocalStack and the embedded
 * stack.
 * @throws Error when it makes no sense
 */
export function readResources(): Resources {
  const resources = JSON.parse(readFileSync(new URL('resources.json', import.meta.url), 'utf8')) as Resources;
  for (const { name, retentionSeconds, deadLetters } of Object.values(resources.queues)) {
    if (deadLetters.retentionSeconds <= retentionSeconds)
      throw new Error(
        `${name}: a dead letter keeps its send time and would expire before it is read; give the dead-letter queue a longer retention`,
      );
    if (deadLetters.retentionSeconds > LONGEST_RETENTION_SECONDS)
      throw new Error(`${name}: SQS keeps a message for at most 14 days`);
  }
  return resources;
}
