import type { SQSClient } from '@aws-sdk/client-sqs';
import type { MessageContext } from '@pasteflow/domain';
import type { Queue } from './queue.ts';
import { sendEntries } from './send-entries.ts';
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
 * Sends messages, as many in a request as SQS takes. Content that SQS refuses is left out: the worker reads the payload.
 * @returns the ids of the executions whose message SQS accepted. The other messages must be sent again.
 * @throws DependencyUnavailableError when SQS can't be reached and accepted nothing
 */
export function sendUploads(
  client: SQSClient,
  queue: Queue,
  uploads: readonly OutgoingUpload[],
): Promise<readonly string[]> {
  return send(client, queue, uploads, ({ shortCode, content }) => ({
    body: encodeUpload(shortCode, content),
    ...(content !== null && { smallerBody: encodeUpload(shortCode, null) }),
  }));
}

/** As `sendUploads`. */
export function sendJobs(
  client: SQSClient,
  queue: Queue,
  jobs: readonly OutgoingJob[],
): Promise<readonly string[]> {
  return send(client, queue, jobs, ({ jobId }) => ({ body: encodeJob(jobId) }));
}

async function send<Each extends Outgoing>(
  client: SQSClient,
  queue: Queue,
  messages: readonly Each[],
  encode: (message: Each) => { readonly body: string; readonly smallerBody?: string },
): Promise<readonly string[]> {
  const entries = messages.map((message) => ({
    ...encode(message),
    attributes: encodeContext(message.context),
    executionId: message.executionId,
  }));
  return (await sendEntries(client, queue, entries)).map(({ executionId }) => executionId);
}
