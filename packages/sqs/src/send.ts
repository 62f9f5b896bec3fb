import { SendMessageBatchCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { SQS_BATCH_SIZE, type MessageContext } from '@pasteflow/domain';
import { rethrowUnavailable, type Queue } from './queue.ts';
import { encodeContext, encodeUpload } from './wire.ts';

/** A message to be sent for an execution that is due. */
export interface OutgoingUpload {
  readonly executionId: string;
  readonly shortCode: string;
  /** Content to travel inline, of up to INLINE_CONTENT_BYTES; null: it is read from its payload. */
  readonly content: Buffer | null;
  readonly context: MessageContext;
}

/**
 * Sends up to 10 messages in one request.
 * @returns the ids of the executions whose message SQS has taken; the others want another try
 * @throws DependencyUnavailableError when SQS took none
 */
export async function sendUploads(
  client: SQSClient,
  queue: Queue,
  uploads: readonly OutgoingUpload[],
): Promise<readonly string[]> {
  if (uploads.length === 0) return [];
  if (uploads.length > SQS_BATCH_SIZE) throw new RangeError(`at most ${SQS_BATCH_SIZE} messages a request`);
  const { Successful = [] } = await client
    .send(
      new SendMessageBatchCommand({
        QueueUrl: await queue.url(),
        Entries: uploads.map(({ shortCode, content, context }, index) => ({
          Id: String(index),
          MessageBody: encodeUpload(shortCode, content),
          MessageAttributes: encodeContext(context),
        })),
      }),
    )
    .catch(rethrowUnavailable);
  return Successful.flatMap(({ Id }) => uploads[Number(Id)]?.executionId ?? []);
}
