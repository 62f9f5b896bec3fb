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

/** About how many messages wait to be received. SQS counts approximately. @throws DependencyUnavailableError */
export async function queueDepth(client: SQSClient, queue: Queue): Promise<number> {
  const { Attributes } = await client
    .send(
      new GetQueueAttributesCommand({
        QueueUrl: await queue.url(),
        AttributeNames: ['ApproximateNumberOfMessages'],
      }),
    )
    .catch(rethrowUnavailable);
  return Number(Attributes?.ApproximateNumberOfMessages ?? 0);
}

export function rethrowUnavailable(error: unknown): never {
  throw new DependencyUnavailableError('sqs', { cause: error });
}
