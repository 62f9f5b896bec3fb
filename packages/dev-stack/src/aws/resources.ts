import { readFileSync } from 'node:fs';

/** The settings of a queue. Times are in seconds. */
export interface QueueSettings {
  readonly visibilitySeconds: number;
  readonly retentionSeconds: number;
}

export interface QueueDescription extends QueueSettings {
  readonly name: string;
  /**
   * Retries, returned messages and crashes also count as receives, and attempts are counted in Postgres. The
   * limit only removes a message that no worker ever acknowledges.
   */
  readonly maxReceiveCount: number;
  /** A dead letter keeps its original send time, so that it needs the longer retention. */
  readonly deadLetters: QueueSettings;
}

export interface Resources {
  readonly bucket: { readonly name: string };
  readonly deadLetterSuffix: string;
  readonly queues: { readonly uploads: QueueDescription; readonly jobs: QueueDescription };
}

/**
 * infra/resources.json describes the bucket and the queues for the emulator, for LocalStack's init script and
 * for the AWS code.
 */
export const resources = JSON.parse(
  readFileSync(new URL('../../../../infra/resources.json', import.meta.url), 'utf8'),
) as Resources;
