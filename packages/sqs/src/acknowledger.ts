import { DeleteMessageBatchCommand, type Message, type SQSClient } from '@aws-sdk/client-sqs';
import { SQS_BATCH_SIZE } from '@pasteflow/domain';
import { Batcher } from '@pasteflow/runtime';
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

/**
 * How long a message waits for others to share its request, in ms. At 50 messages a second that fills a
 * request. Nobody waits for it: the outcome is in Postgres already, and a message that comes back because of
 * a crash is found to have ended.
 */
const LINGER_MS = 200;

/** Deletes messages from their queue, 10 in a request, whichever batches they were received in. */
export class Acknowledger {
  readonly #requests: Batcher<Message, Message>;

  /** @param onError called when a request failed. Its messages come back. */
  constructor(client: SQSClient, queue: Queue, onError: (error: unknown) => void) {
    this.#requests = new Batcher({
      run: async (messages) => {
        await acknowledge(client, queue, messages).catch(onError);
        return messages;
      },
      maxItems: SQS_BATCH_SIZE,
      lingerMs: LINGER_MS,
    });
  }

  /** Resolves when SQS has answered, or the request has failed. Never throws. */
  async acknowledge(message: Message): Promise<void> {
    await this.#requests.call(message);
  }
}
