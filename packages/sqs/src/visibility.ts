import { ChangeMessageVisibilityBatchCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { SQS_BATCH_SIZE } from '@pasteflow/domain';
import { rethrowUnavailable, type Queue } from './queue.ts';

export interface VisibilityChange {
  readonly receiptHandle: string;
  /** From now, whole seconds; 0 gives the message back at once. */
  readonly seconds: number;
}

/**
 * Changes for how long messages stay hidden, 10 a request. A message that is no longer ours (its time ran out, it was deleted) is passed
 * over: SQS refuses its entry alone, and nothing needs to be done about it.
 * @throws DependencyUnavailableError
 */
export async function changeVisibility(
  client: SQSClient,
  queue: Queue,
  changes: readonly VisibilityChange[],
): Promise<void> {
  for (let start = 0; start < changes.length; start += SQS_BATCH_SIZE) {
    await client
      .send(
        new ChangeMessageVisibilityBatchCommand({
          QueueUrl: await queue.url(),
          Entries: changes.slice(start, start + SQS_BATCH_SIZE).map(({ receiptHandle, seconds }, index) => ({
            Id: String(index),
            ReceiptHandle: receiptHandle,
            VisibilityTimeout: seconds,
          })),
        }),
      )
      .catch(rethrowUnavailable);
  }
}
