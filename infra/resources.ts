import { readFileSync } from 'node:fs';
import type { QueueDescription } from '../packages/dev-stack/src/aws/resources.ts';

export interface BucketDescription {
  readonly name: string;
  /** What the objects' keys begin with: one for the content of pastes, one for what jobs make. */
  readonly prefixes: { readonly pastes: string; readonly jobs: string };
  /** For multipart uploads whose worker died: longer than any export takes. */
  readonly abortMultipartUploadsAfterDays: number;
}

export interface Resources {
  readonly bucket: BucketDescription;
  /** A queue's dead-letter queue has the same name with this behind it. */
  readonly deadLetterSuffix: string;
  readonly queues: { readonly uploads: QueueDescription; readonly jobs: QueueDescription };
}

/** SQS keeps a message for 14 days at most. */
const LONGEST_RETENTION_SECONDS = 14 * 86_400;

/** resources.json: the one description of the bucket and the queues, for AWS, LocalStack and the embedded stack. @throws Error when it makes no sense */
export function readResources(): Resources {
  const resources = JSON.parse(readFileSync(new URL('resources.json', import.meta.url), 'utf8')) as Resources;
  for (const { name, retentionSeconds, deadLetters } of Object.values(resources.queues)) {
    if (deadLetters.retentionSeconds <= retentionSeconds)
      throw new Error(`${name}: a dead letter keeps its send time, and would be gone before it is read`);
    if (deadLetters.retentionSeconds > LONGEST_RETENTION_SECONDS)
      throw new Error(`${name}: SQS keeps a message for 14 days at most`);
  }
  return resources;
}
