import { GetQueueAttributesCommand, GetQueueUrlCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { DependencyUnavailableError, SQS_BATCH_SIZE } from '@pasteflow/domain';

/** A queue by name. Its URL is read on first use, so that a service can start while SQS is down. */
export interface Queue {
  readonly name: string;
  /** @throws DependencyUnavailableError */
  url(): Promise<string>;
}

export function createQueue(client: SQSClient, name: string): Queue {
  let known: string | undefined;
  return {
    name,
    url: async () => {
      known ??= await lookUp(client, name);
      return known;
    },
  };
}

async function lookUp(client: SQSClient, name: string): Promise<string> {
  const { QueueUrl } = await client
    .send(new GetQueueUrlCommand({ QueueName: name }))
    .catch(rethrowUnavailable);
  if (QueueUrl === undefined) throw new DependencyUnavailableError('sqs');
  return QueueUrl;
}

/** The name of a queue's dead-letter queue. */
export function deadLetterQueueName(queueName: string): string {
  return `${queueName}-dead-letters`;
}

/** Approximate numbers of messages, as SQS reports them. */
export interface QueueCounts {
  /** Waiting to be received. */
  readonly visible: number;
  /** Received, but neither acknowledged nor returned yet. */
  readonly inFlight: number;
  /** Sent with a delay that has not passed yet. */
  readonly delayed: number;
}

/** @throws DependencyUnavailableError */
export async function queueCounts(client: SQSClient, queue: Queue): Promise<QueueCounts> {
  const { Attributes = {} } = await client
    .send(
      new GetQueueAttributesCommand({
        QueueUrl: await queue.url(),
        AttributeNames: [
          'ApproximateNumberOfMessages',
          'ApproximateNumberOfMessagesNotVisible',
          'ApproximateNumberOfMessagesDelayed',
        ],
      }),
    )
    .catch(rethrowUnavailable);
  return {
    visible: Number(Attributes.ApproximateNumberOfMessages ?? 0),
    inFlight: Number(Attributes.ApproximateNumberOfMessagesNotVisible ?? 0),
    delayed: Number(Attributes.ApproximateNumberOfMessagesDelayed ?? 0),
  };
}

/** The approximate number of messages that wait to be received. @throws DependencyUnavailableError */
export async function queueDepth(client: SQSClient, queue: Queue): Promise<number> {
  return (await queueCounts(client, queue)).visible;
}

export function rethrowUnavailable(error: unknown): never {
  throw new DependencyUnavailableError('sqs', { cause: error });
}

/** Splits a list into the batches of one request each: 10 entries at most. */
export function sqsBatches<Entry>(entries: readonly Entry[]): readonly (readonly Entry[])[] {
  const count = Math.ceil(entries.length / SQS_BATCH_SIZE);
  return Array.from({ length: count }, (_, n) => entries.slice(n * SQS_BATCH_SIZE, (n + 1) * SQS_BATCH_SIZE));
}
