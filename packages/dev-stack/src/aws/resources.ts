import { readFileSync } from 'node:fs';

/** What SQS is told about a queue; times in seconds. */
export interface QueueSettings {
  readonly visibilitySeconds: number;
  readonly retentionSeconds: number;
}

export interface QueueDescription extends QueueSettings {
  readonly name: string;
  /** Retries, hand-backs and crashes use receives up, and attempts are counted in Postgres: this only ends a message that no worker ever gets rid of. */
  readonly maxReceiveCount: number;
  /** A dead letter keeps its original send time, so it needs the longer retention. */
  readonly deadLetters: QueueSettings;
}

export interface Resources {
  readonly bucket: { readonly name: string };
  readonly deadLetterSuffix: string;
  readonly queues: { readonly uploads: QueueDescription; readonly jobs: QueueDescription };
}

/** infra/resources.json: the one description of bucket and queues, which LocalStack's init script and the AWS code read as well. */
export const resources = JSON.parse(
  readFileSync(new URL('../../../../infra/resources.json', import.meta.url), 'utf8'),
) as Resources;
