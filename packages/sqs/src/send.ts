import { SendMessageBatchCommand, type MessageAttributeValue, type SQSClient } from '@aws-sdk/client-sqs';
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
 * Sends messages, as many in a request as SQS takes. Content that SQS refuses is left out: the worker reads
 * the payload.
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

/** As `sendUploads`, for a queue that others can read: every worker reads the payload. */
export function sendUploadsWithoutContent(
  client: SQSClient,
  queue: Queue,
  uploads: readonly OutgoingUpload[],
): Promise<readonly string[]> {
  return sendUploads(
    client,
    queue,
    uploads.map((upload) => ({ ...upload, content: null })),
  );
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

/** A message that is ready to be sent. */
interface Entry {
  readonly body: string | undefined;
  /** Sent when SQS refuses `body`. */
  readonly smallerBody?: string;
  readonly attributes: Readonly<Record<string, MessageAttributeValue>> | undefined;
}

/**
 * The messages of one request, with their attributes. AWS takes 1 MiB; ElasticMQ 1.6, and AWS until 2025,
 * take 256 KiB.
 */
const MAX_REQUEST_BYTES = 256 * 1024;

/**
 * Sends messages in requests of at most 10 and 256 KiB. A request that SQS refuses as a whole is halved until
 * one message is left, and a message that SQS refuses is sent with its smaller body, so that no message holds
 * up the others.
 * @returns the messages that SQS accepted
 * @throws DependencyUnavailableError when SQS can't be reached and has accepted nothing
 */
export async function sendEntries<Each extends Entry>(
  client: SQSClient,
  queue: Queue,
  entries: readonly Each[],
): Promise<readonly Each[]> {
  const accepted: Each[] = [];
  let failure: unknown;
  const send = async (batch: readonly Each[], bodyOf: (entry: Each) => string | undefined): Promise<void> => {
    let taken: readonly Each[] = [];
    try {
      taken = await request(client, queue, batch, bodyOf);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      failure = error;
      if (batch.length > 1) {
        const half = Math.ceil(batch.length / 2);
        await send(batch.slice(0, half), bodyOf);
        await send(batch.slice(half), bodyOf);
        return;
      }
    }
    accepted.push(...taken);
    const smaller = batch.filter((entry) => !taken.includes(entry) && canShrink(entry, bodyOf(entry)));
    if (smaller.length > 0) await send(smaller, ({ smallerBody }) => smallerBody);
  };
  try {
    for (const batch of batchesOf(entries)) await send(batch, ({ body }) => body);
  } catch (error) {
    failure = error;
  }
  if (accepted.length === 0 && failure !== undefined) rethrowUnavailable(failure);
  return accepted;
}

function canShrink({ smallerBody }: Entry, refused: string | undefined): boolean {
  return smallerBody !== undefined && smallerBody !== refused;
}

/** @returns the messages that SQS accepted @throws when SQS refuses the request, or can't be reached */
async function request<Each extends Entry>(
  client: SQSClient,
  queue: Queue,
  batch: readonly Each[],
  bodyOf: (entry: Each) => string | undefined,
): Promise<readonly Each[]> {
  const { Successful = [] } = await client.send(
    new SendMessageBatchCommand({
      QueueUrl: await queue.url(),
      Entries: batch.map((entry, index) => ({
        Id: String(index),
        MessageBody: bodyOf(entry),
        MessageAttributes: entry.attributes,
      })),
    }),
  );
  return Successful.flatMap(({ Id }) => batch[Number(Id)] ?? []);
}

/**
 * What AWS and ElasticMQ answer to messages that they don't take. After any other error no smaller request
 * would be accepted either.
 */
const OF_THE_MESSAGES = /TooLong|TooLarge|InvalidParameterValue|InvalidAttributeValue|InvalidMessageContents/;

/** Whether SQS refuses what the request contains. */
function isRefusal(error: unknown): boolean {
  const { name = '', $metadata } = error as { name?: string; $metadata?: { httpStatusCode?: number } };
  return $metadata?.httpStatusCode === 413 || OF_THE_MESSAGES.test(name);
}

function batchesOf<Each extends Entry>(entries: readonly Each[]): readonly (readonly Each[])[] {
  const batches: Each[][] = [];
  let bytes = 0;
  for (const entry of entries) {
    const size = sizeOf(entry);
    const last = batches.at(-1);
    bytes += size;
    if (last !== undefined && last.length < SQS_BATCH_SIZE && bytes <= MAX_REQUEST_BYTES) last.push(entry);
    else {
      batches.push([entry]);
      bytes = size;
    }
  }
  return batches;
}

/** As SQS measures a message: the body, and the name, type and value of each attribute. */
function sizeOf({ body = '', attributes = {} }: Entry): number {
  return Object.entries(attributes).reduce(
    (bytes, [name, { DataType = '', StringValue = '', BinaryValue }]) =>
      bytes + Buffer.byteLength(name + DataType + StringValue) + (BinaryValue?.length ?? 0),
    Buffer.byteLength(body),
  );
}
