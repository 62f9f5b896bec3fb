import { SendMessageBatchCommand, type MessageAttributeValue, type SQSClient } from '@aws-sdk/client-sqs';
import { SQS_BATCH_SIZE } from '@pasteflow/domain';
import { rethrowUnavailable, type Queue } from './queue.ts';

/** A message that is ready to be sent. */
export interface Entry {
  readonly body: string | undefined;
  /** Sent when SQS refuses `body`. */
  readonly smallerBody?: string;
  readonly attributes: Readonly<Record<string, MessageAttributeValue>> | undefined;
}

/** The messages of one request, with their attributes. AWS takes 1 MiB; ElasticMQ 1.6, and AWS until 2025, take 256 KiB. */
const MAX_REQUEST_BYTES = 256 * 1024;

/**
 * Sends messages in requests of at most 10 and 256 KiB. A request that SQS refuses as a whole is halved until one message is left, and a
 * message that SQS refuses is sent with its smaller body, so that no message holds up the others.
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

/** What AWS and ElasticMQ answer to messages that they don't take. After any other error no smaller request would be accepted either. */
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
