import { readFileSync } from 'node:fs';

/** The settings of a queue. Times are in seconds. */
interface QueueSettings {
  readonly visibilitySeconds: number;
  readonly retentionSeconds: number;
}

interface QueueDescription extends QueueSettings {
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

/** A queue with its attributes as SQS names them. All values are strings. */
export interface QueueDefinition {
  name: string;
  attributes: Record<string, string>;
}

/** The names of the two queues. infra/resources.json has their attributes. */
export type QueueNames = Readonly<Record<keyof Resources['queues'], string>>;

export const DEFAULT_QUEUES: QueueNames = {
  uploads: resources.queues.uploads.name,
  jobs: resources.queues.jobs.name,
};

/** Both queues, each after its dead-letter queue, to which its redrive policy refers. */
export function queueDefinitions(names: QueueNames, region: string): QueueDefinition[] {
  const { uploads, jobs } = resources.queues;
  return [
    ...queueWithDeadLetters({ ...uploads, name: names.uploads }, region),
    ...queueWithDeadLetters({ ...jobs, name: names.jobs }, region),
  ];
}

function queueWithDeadLetters(queue: QueueDescription, region: string): QueueDefinition[] {
  const deadLetters = `${queue.name}${resources.deadLetterSuffix}`;
  const redrive = {
    deadLetterTargetArn: `arn:aws:sqs:${region}:${EMULATOR_ACCOUNT}:${deadLetters}`,
    maxReceiveCount: queue.maxReceiveCount,
  };
  return [
    { name: deadLetters, attributes: lasting(queue.deadLetters) },
    { name: queue.name, attributes: { ...lasting(queue), RedrivePolicy: JSON.stringify(redrive) } },
  ];
}

function lasting({ visibilitySeconds, retentionSeconds }: QueueSettings): Record<string, string> {
  return { VisibilityTimeout: String(visibilitySeconds), MessageRetentionPeriod: String(retentionSeconds) };
}

/** The account id that fauxqs, like LocalStack, uses in every ARN and queue URL. */
export const EMULATOR_ACCOUNT = '000000000000';
