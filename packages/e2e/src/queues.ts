import {
  GetQueueAttributesCommand,
  PurgeQueueCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';

export type QueueName =
  'pasteflow-uploads' | 'pasteflow-uploads-dead-letters' | 'pasteflow-jobs' | 'pasteflow-jobs-dead-letters';

export interface QueueCounts {
  /** Waiting to be received. */
  readonly visible: number;
  /** Received, and neither deleted nor back. */
  readonly hidden: number;
}

/** The emulator's queues, past every proxy. */
export class Queues {
  readonly #client: SQSClient;
  readonly #endpoint: string;

  constructor(endpoint: string) {
    this.#endpoint = endpoint;
    this.#client = new SQSClient({
      endpoint,
      region: 'us-east-1',
      credentials: { accessKeyId: 'pasteflow', secretAccessKey: 'pasteflow' },
      useQueueUrlAsEndpoint: false,
    });
  }

  async counts(queue: QueueName): Promise<QueueCounts> {
    const { Attributes = {} } = await this.#client.send(
      new GetQueueAttributesCommand({ QueueUrl: this.#url(queue), AttributeNames: ['All'] }),
    );
    return {
      visible: Number(Attributes.ApproximateNumberOfMessages),
      hidden: Number(Attributes.ApproximateNumberOfMessagesNotVisible),
    };
  }

  /** A string is sent as it is, anything else as JSON. */
  async send(queue: QueueName, body: string | object): Promise<void> {
    const MessageBody = typeof body === 'string' ? body : JSON.stringify(body);
    await this.#client.send(new SendMessageCommand({ QueueUrl: this.#url(queue), MessageBody }));
  }

  /** The bodies of up to 10 messages, which are visible again at once. */
  async peek(queue: QueueName): Promise<string[]> {
    const { Messages = [] } = await this.#client.send(
      new ReceiveMessageCommand({
        QueueUrl: this.#url(queue),
        MaxNumberOfMessages: 10,
        VisibilityTimeout: 0,
      }),
    );
    return Messages.map(({ Body }) => Body ?? '');
  }

  async purge(queue: QueueName): Promise<void> {
    await this.#client.send(new PurgeQueueCommand({ QueueUrl: this.#url(queue) }));
  }

  close(): void {
    this.#client.destroy();
  }

  #url(queue: QueueName): string {
    return `${this.#endpoint}/000000000000/${queue}`;
  }
}
