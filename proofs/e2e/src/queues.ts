import {
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import type { FaultProxy } from '@pasteflow/dev-stack/testing';
import { sqsClientOf, type Aws } from './aws.ts';

/** The roles of the queues. The stack chooses their names. */
export const QUEUES = ['uploads', 'uploads-dead-letters', 'jobs', 'jobs-dead-letters'] as const;
export type QueueName = (typeof QUEUES)[number];

export interface QueueCounts {
  /** Messages that can be received. */
  readonly visible: number;
  /** Messages that were received, and neither deleted nor returned. */
  readonly hidden: number;
}

/** The cluster's queues, accessed without a proxy. */
export class Queues {
  readonly #client: SQSClient;
  readonly #names: Readonly<Record<QueueName, string>>;
  readonly #urls = new Map<QueueName, string | undefined>();

  constructor({ sqs, queues: { uploads, jobs } }: Aws) {
    this.#names = {
      uploads,
      jobs,
      'uploads-dead-letters': `${uploads}-dead-letters`,
      'jobs-dead-letters': `${jobs}-dead-letters`,
    };
    this.#client = sqsClientOf(sqs);
  }

  async counts(queue: QueueName): Promise<QueueCounts> {
    const { Attributes = {} } = await this.#client.send(
      new GetQueueAttributesCommand({ QueueUrl: await this.#url(queue), AttributeNames: ['All'] }),
    );
    return {
      visible: Number(Attributes.ApproximateNumberOfMessages),
      hidden: Number(Attributes.ApproximateNumberOfMessagesNotVisible),
    };
  }

  /** Sends a string unchanged, and an object as JSON. */
  async send(queue: QueueName, body: string | object): Promise<void> {
    const MessageBody = typeof body === 'string' ? body : JSON.stringify(body);
    await this.#client.send(new SendMessageCommand({ QueueUrl: await this.#url(queue), MessageBody }));
  }

  /** The bodies of up to 10 messages, which stay visible. */
  async peek(queue: QueueName): Promise<string[]> {
    const { Messages = [] } = await this.#client.send(
      new ReceiveMessageCommand({
        QueueUrl: await this.#url(queue),
        MaxNumberOfMessages: 10,
        VisibilityTimeout: 0,
      }),
    );
    return Messages.map(({ Body }) => Body ?? '');
  }

  close(): void {
    this.#client.destroy();
  }

  async #url(queue: QueueName): Promise<string | undefined> {
    if (!this.#urls.has(queue)) {
      const { QueueUrl } = await this.#client.send(new GetQueueUrlCommand({ QueueName: this.#names[queue] }));
      this.#urls.set(queue, QueueUrl);
    }
    return this.#urls.get(queue);
  }
}

interface VisibilityChanges {
  readonly Entries: readonly { readonly VisibilityTimeout: number }[];
}

/**
 * For how many seconds workers have hidden messages that they had received: a number for each message of each
 * request so far. 0: the message was returned to the queue at once.
 */
export function visibilityChanges(sqs: FaultProxy): number[] {
  return sqs
    .matching({ target: 'ChangeMessageVisibilityBatch' })
    .flatMap(({ body }) => (JSON.parse(body?.toString() ?? '{"Entries":[]}') as VisibilityChanges).Entries)
    .map(({ VisibilityTimeout }) => VisibilityTimeout);
}
