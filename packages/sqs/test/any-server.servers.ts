// What Pasteflow asks of a server of SQS, on the one at AWS_ENDPOINT_URL_SQS: npm run proof -- servers.
// docs/deploy.md has the results. Creates queues of its own and removes them. Without an endpoint: AWS,
// with the credentials that the SDK finds.
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  CreateQueueCommand,
  DeleteMessageBatchCommand,
  DeleteQueueCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  type SQSClient,
  type Message,
} from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import {
  changeVisibility,
  createQueue,
  createSqsClient,
  deadLetterQueueName,
  queueCounts,
  type Queue,
} from '../src/index.ts';

/* oxlint-disable node/no-process-env -- select the server */
const endpoint = process.env.AWS_ENDPOINT_URL_SQS || process.env.AWS_ENDPOINT_URL || undefined;
const region = process.env.AWS_REGION || 'us-east-1';
/* oxlint-enable node/no-process-env */

const name = `pasteflow-check-${randomBytes(6).toString('hex')}`;
const refusals: unknown[] = [];
const client = createSqsClient({
  region,
  endpoint,
  requestTimeoutMs: 15_000,
  requests: 'direct',
  onDirectRefused: (error) => refusals.push(error),
});
/** As the services send what direct requests are refused for, and everything with S3_REQUESTS=sdk. */
const bySdk = createSqsClient({ region, endpoint, requestTimeoutMs: 15_000 });
let queue: Queue;
let deadLetters: Queue;

beforeAll(async () => {
  const create = async (QueueName: string, Attributes: Record<string, string>) =>
    await client.send(new CreateQueueCommand({ QueueName, Attributes }));
  const { QueueUrl } = await create(deadLetterQueueName(name), { MessageRetentionPeriod: '1209600' });
  const { Attributes } = await client.send(
    new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['QueueArn'] }),
  );
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: Attributes!.QueueArn, maxReceiveCount: 3 });
  await create(name, { VisibilityTimeout: '30', MessageRetentionPeriod: '345600', RedrivePolicy });
  queue = createQueue(client, name);
  deadLetters = createQueue(client, deadLetterQueueName(name));
});
afterAll(async () => {
  for (const each of [queue, deadLetters])
    await client.send(new DeleteQueueCommand({ QueueUrl: await each.url() }));
  client.destroy();
  bySdk.destroy();
});

const send = async (bodies: readonly string[], by = client) => {
  const Entries = bodies.map((MessageBody, index) => ({
    Id: String(index),
    MessageBody,
    MessageAttributes: { requestId: { DataType: 'String', StringValue: 'request-1' } },
  }));
  const { Successful } = await by.send(new SendMessageBatchCommand({ QueueUrl: await queue.url(), Entries }));
  expect(Successful).toHaveLength(bodies.length);
};
const receive = async (
  WaitTimeSeconds: number,
  from = queue,
  { signal, by = client, hiddenFor }: { signal?: AbortSignal; by?: SQSClient; hiddenFor?: number } = {},
): Promise<Message[]> => {
  const { Messages } = await by.send(
    new ReceiveMessageCommand({
      QueueUrl: await from.url(),
      MaxNumberOfMessages: 10,
      WaitTimeSeconds,
      VisibilityTimeout: hiddenFor, // undefined: the queue's
      MessageAttributeNames: ['All'],
      MessageSystemAttributeNames: ['ApproximateReceiveCount', 'SentTimestamp'],
    }),
    signal && { abortSignal: signal },
  );
  return Messages ?? [];
};
/** A server may give fewer messages than it has, so that it is asked again. */
const receiveAll = async (count: number, by = client): Promise<Message[]> => {
  const messages: Message[] = [];
  for (const until = Date.now() + 20_000; messages.length < count && Date.now() < until;)
    messages.push(...(await receive(2, queue, { by })));
  return messages;
};
const remove = async (messages: readonly Message[], from = queue, by = client) => {
  const Entries = messages.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
  return await by.send(new DeleteMessageBatchCommand({ QueueUrl: await from.url(), Entries }));
};
const handlesOf = (messages: readonly Message[], seconds: number) =>
  messages.map(({ ReceiptHandle }) => ({ receiptHandle: ReceiptHandle!, seconds }));

it.each([
  ['directly', client],
  ['by the SDK', bySdk],
])(
  'sends ten messages, receives them with their attributes, and deletes them, each by one request, %s',
  async (_, by) => {
    const bodies = Array.from({ length: 10 }, (_each, n) => `{"n":${n},"text":"ä € \\u0001"}`);
    await send(bodies, by);
    const messages = await receiveAll(10, by);
    expect(messages.map(({ Body = '' }) => Body).toSorted((a, b) => a.localeCompare(b))).toEqual(bodies);
    expect(messages[0]!.MessageAttributes).toMatchObject({ requestId: { StringValue: 'request-1' } });
    expect(messages[0]!.Attributes).toMatchObject({ ApproximateReceiveCount: '1' });
    const { Successful } = await remove(messages, queue, by);
    expect(Successful).toHaveLength(10);
    expect(await receive(1)).toEqual([]);
    expect(refusals).toEqual([]);
  },
);

it('takes a message of 250 KiB', async () => {
  const body = 'x'.repeat(250 * 1024);
  await send([body]);
  const messages = await receiveAll(1);
  expect(messages[0]!.Body).toBe(body);
  await remove(messages);
});

it('a long poll ends when a message comes, and else after its time', async () => {
  const startedAt = performance.now();
  expect(await receive(3)).toEqual([]);
  expect(performance.now() - startedAt).toBeGreaterThan(2500);
  const polling = receive(10);
  await sleep(1000);
  await send(['a message']);
  const sentAt = performance.now();
  const messages = await polling;
  expect([messages.length, performance.now() - sentAt < 2000]).toEqual([1, true]);
  await remove(messages);
});

it('a message that is returned comes back at once, and a hidden one after its time', async () => {
  await send(['returned']);
  const first = await receiveAll(1);
  await changeVisibility(client, queue, handlesOf(first, 0));
  const again = await receive(5);
  expect(again.map(({ Attributes }) => Attributes?.ApproximateReceiveCount)).toEqual(['2']);
  await changeVisibility(client, queue, handlesOf(again, 2));
  const hiddenAt = performance.now();
  const third = await receive(10);
  expect(third).toHaveLength(1);
  const after = performance.now() - hiddenAt;
  expect([after > 1500, after < 6000]).toEqual([true, true]);
  await remove(third);
});

it('a stale receipt is refused or does nothing, and the others of its batch succeed', async () => {
  await send(['one', 'two']);
  const messages = await receiveAll(2);
  await remove(messages.slice(0, 1));
  await changeVisibility(client, queue, handlesOf(messages, 30));
  const { Failed = [], Successful = [] } = await remove(messages);
  expect(Failed.length + Successful.length).toBe(2);
  expect(await receive(1)).toEqual([]);
});

it('counts what waits and what is hidden', async () => {
  await send(['one', 'two', 'three']);
  const received = await receive(2);
  const counts = async () => {
    const { visible, inFlight } = await queueCounts(client, queue);
    return `${visible + inFlight}, ${inFlight > 0 ? 'some' : 'none'} hidden`;
  };
  for (const until = Date.now() + 60_000; (await counts()) !== '3, some hidden' && Date.now() < until;)
    await sleep(500); // the counts of SQS are those of a minute ago
  expect(await counts()).toBe('3, some hidden');
  await changeVisibility(client, queue, handlesOf(received, 0));
  await remove(await receiveAll(3));
});

it('a message that was received three times goes to the dead letters', async () => {
  await send(['poison']);
  for (let n = 0; n < 3; n += 1) await changeVisibility(client, queue, handlesOf(await receiveAll(1), 0));
  expect(await receive(2)).toEqual([]);
  const dead = await receive(5, deadLetters);
  expect(dead.map(({ Body }) => Body)).toEqual(['poison']);
  await remove(dead, deadLetters);
});

it('a message that goes to a client which has gone comes back', async () => {
  await receive(10, queue, { signal: AbortSignal.timeout(1000), hiddenFor: 5 }).catch(() => {});
  await send(['abandoned']);
  const sentAt = performance.now();
  const messages: Message[] = [];
  while (messages.length === 0 && performance.now() - sentAt < 60_000) messages.push(...(await receive(5)));
  expect(messages).toHaveLength(1);
  await remove(messages);
});
