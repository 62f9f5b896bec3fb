import { SendMessageBatchCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { SQS_BATCH_SIZE, type MessageContext } from '@pasteflow/domain';
import { rethrowUnavailable, type Queue } from './queue.ts';
import { encodeContext, encodeJob, encodeUpload } from './wire.ts';

/** The message of an execution that is due. */
interface Outgoing {
  readonly executionId: string;
  readonly context: MessageContext;
}

export interface OutgoingUpload extends Outgoing {
  readonly shortCode: string;
  /** Content of up to INLINE_CONTENT_BYTES to send inline. null: the worker reads the payload. */
  readonly content: Buffer | null;
}

export interface OutgoingJob extends Outgoing {
  readonly jobId: string;
}

/**
 * Sends up to 10 messages in one request.
 * @returns the ids of the executions whose message SQS accepted. The other messages must be sent again.
 * @throws DependencyUnavailableError when the request failed
 */
export function sendUploads(
  client: SQSClient,
  queue: Queue,
  uploads: readonly OutgoingUpload[],
): Promise<readonly string[]> {
  return send(client, queue, uploads, ({ shortCode, content }) => encodeUpload(shortCode, content));
}

/** As `sendUploads`. */
export function sendJobs(
  client: SQSClient,
  queue: Queue,
  jobs: readonly OutgoingJob[],
): Promise<readonly string[]> {
  return send(client, queue, jobs, ({ jobId }) => encodeJob(jobId));
}

async function send<Each extends Outgoing>(
  client: SQSClient,
  queue: Queue,
  messages: readonly Each[],
  encode: (message: Each) => string,
): Promise<readonly string[]> {
  if (messages.length === 0) return [];
  if (messages.length > SQS_BATCH_SIZE)
    throw new RangeError(`A request can send at most ${SQS_BATCH_SIZE} messages.`);
  const { Successful = [] } = await client
    .send(
      new SendMessageBatchCommand({
        QueueUrl: await queue.url(),
        Entries: messages.map((message, index) => ({
          Id: String(index),
          MessageBody: encode(message),
          MessageAttributes: encodeContext(message.context),
        })),
      }),
    )
    .catch(rethrowUnavailable);
  return Successful.flatMap(({ Id }) => messages[Number(Id)]?.executionId ?? []);
}
