import { ChangeMessageVisibilityBatchCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { sqsBatches } from './batches.ts';
import { rethrowUnavailable, type Queue } from './queue.ts';

export interface VisibilityChange {
  readonly receiptHandle: string;
  /** The new visibility timeout from now on, in whole seconds. 0 makes the message visible immediately. */
  readonly seconds: number;
}

/**
 * Changes the visibility timeout of messages, 10 per request. SQS rejects the entry of a message whose visibility timeout has ended or
 * that was deleted. These entries are ignored, because such a message needs nothing more.
 * @throws DependencyUnavailableError
 */
export async function changeVisibility(
  client: SQSClient,
  queue: Queue,
  changes: readonly VisibilityChange[],
): Promise<void> {
  for (const batch of sqsBatches(changes)) {
    await client
      .send(
        new ChangeMessageVisibilityBatchCommand({
          QueueUrl: await queue.url(),
          Entries: batch.map(({ receiptHandle, seconds }, index) => ({
            Id: String(index),
            ReceiptHandle: receiptHandle,
            VisibilityTimeout: seconds,
          })),
        }),
      )
      .catch(rethrowUnavailable);
  }
}
