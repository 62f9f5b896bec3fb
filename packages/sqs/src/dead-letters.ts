import {
  DeleteMessageBatchCommand,
  ReceiveMessageCommand,
  type Message,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { SQS_BATCH_SIZE } from '@pasteflow/domain';
import { rethrowUnavailable, type Queue } from './queue.ts';

/** Receives up to 10 messages with their SentTimestamp and hides them from other receivers for 60 s. @throws DependencyUnavailableError */
export async function receiveDeadLetters(client: SQSClient, queue: Queue): Promise<readonly Message[]> {
  const { Messages = [] } = await client
    .send(
      new ReceiveMessageCommand({
        QueueUrl: await queue.url(),
        MaxNumberOfMessages: SQS_BATCH_SIZE,
        WaitTimeSeconds: 1,
        VisibilityTimeout: 60,
        MessageSystemAttributeNames: ['SentTimestamp'],
      }),
    )
    .catch(rethrowUnavailable);
  return Messages;
}

/** @throws DependencyUnavailableError */
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
