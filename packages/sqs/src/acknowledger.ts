import { DeleteMessageBatchCommand, type Message, type SQSClient } from '@aws-sdk/client-sqs';
import { SQS_BATCH_SIZE } from '@pasteflow/domain';
import { rethrowUnavailable, type Queue } from './queue.ts';

/** Deletes up to 10 messages by one request. @throws DependencyUnavailableError */
export async function acknowledge(
  client: SQSClient,
  queue: Queue,
  messages: readonly Message[],
): Promise<void> {
  if (messages.length === 0) return;
  await client
    .send(
      new DeleteMessageBatchCommand({
        QueueUrl: await queue.url(),
        Entries: messages.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle })),
      }),
    )
    .catch(rethrowUnavailable);
}

export interface AcknowledgerOptions {
  readonly client: SQSClient;
  readonly queue: Queue;
  /** Called when a request failed. Its messages come back. */
  readonly onError: (error: unknown) => void;
}

/**
 * How long a message waits for others to share its request, in ms. At 50 messages a second that fills a
 * request. Nobody waits for it: the outcome is in Postgres already, and a message that comes back because of
 * a crash is found to have ended.
 */
const LINGER_MS = 200;

/** Deletes messages from their queue, 10 in a request, whichever batches they were received in. */
export class Acknowledger {
  readonly #options: AcknowledgerOptions;
  #waiting: Message[] = [];
  #answer = Promise.withResolvers<void>();
  #lingering: NodeJS.Timeout | undefined;

  constructor(options: AcknowledgerOptions) {
    this.#options = options;
  }

  /** Resolves when SQS has answered, or the request has failed. Never throws. */
  acknowledge(message: Message): Promise<void> {
    this.#waiting.push(message);
    const { promise } = this.#answer;
    if (this.#waiting.length >= SQS_BATCH_SIZE) this.#send();
    else this.#lingering ??= setTimeout(() => this.#send(), LINGER_MS);
    return promise;
  }

  #send(): void {
    clearTimeout(this.#lingering);
    this.#lingering = undefined;
    const { client, queue, onError } = this.#options;
    const answer = this.#answer;
    void acknowledge(client, queue, this.#waiting).catch(onError).finally(answer.resolve);
    this.#waiting = [];
    this.#answer = Promise.withResolvers();
  }
}
