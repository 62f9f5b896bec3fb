import { GetQueueAttributesCommand, GetQueueUrlCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { DependencyUnavailableError } from '@pasteflow/domain';

/** A queue by name. Its URL is looked up on first use, so that a service starts, and works as far as it can, without SQS. */
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

/** The dead-letter queue that goes with a queue. */
export function deadLetterQueueName(queueName: string): string {
  return `${queueName}-dead-letters`;
}

/** SQS counts approximately. */
export interface QueueCounts {
  /** Waiting to be received. */
  readonly visible: number;
  /** Received, and neither deleted nor back. */
  readonly inFlight: number;
  /** Not to be received yet. */
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

/** About how many messages wait to be received. @throws DependencyUnavailableError */
export async function queueDepth(client: SQSClient, queue: Queue): Promise<number> {
  return (await queueCounts(client, queue)).visible;
}

export function rethrowUnavailable(error: unknown): never {
  throw new DependencyUnavailableError('sqs', { cause: error });
}
