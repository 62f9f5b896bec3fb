import { createServer, type AddressInfo } from 'node:net';
import {
  DeleteMessageBatchCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  SQSServiceException,
  type Message,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { expectedSignature, sentSignature, startRecordingServer } from '@pasteflow/dev-stack/testing';
import { createSqsClient } from '../src/index.ts';
import { useEmulator } from './support/emulator.ts';

type SqsClientOptions = Parameters<typeof createSqsClient>[0];

const QueueUrl = 'http://127.0.0.1/000000000000/pasteflow-uploads';
const receive = (options: object = {}) => new ReceiveMessageCommand({ QueueUrl, ...options });
const sendBatch = (body: string) =>
  new SendMessageBatchCommand({ QueueUrl, Entries: [{ Id: '0', MessageBody: body }] });
/** Of "the body". */
const MD5 = '3066176185fcca35d26c1b1612a91e78';

beforeAll(() => {
  process.env.AWS_ACCESS_KEY_ID = 'test';
  process.env.AWS_SECRET_ACCESS_KEY = 'test';
});

describe('direct requests and those of the SDK', () => {
  const emulator = useEmulator();

  it('have the same results', async () => {
    const url = await emulator.queue.url();
    const outcomeOf = async (client: SQSClient) => {
      const sent = await client.send(
        new SendMessageBatchCommand({
          QueueUrl: url,
          Entries: [
            {
              Id: '0',
              MessageBody: 'ä€ "quoted"\n',
              MessageAttributes: {
                text: { DataType: 'String', StringValue: 'value' },
              },
            },
            { Id: '1', MessageBody: 'plain' },
          ],
        }),
      );
      await emulator.direct.send(
        new SendMessageCommand({
          QueueUrl: url,
          MessageBody: 'with bytes',
          MessageAttributes: { bytes: { DataType: 'Binary', BinaryValue: new Uint8Array([0, 255]) } },
        }),
      );
      const received: Message[] = [];
      while (received.length < 3) {
        const { Messages = [] } = await client.send(
          new ReceiveMessageCommand({
            QueueUrl: url,
            MaxNumberOfMessages: 10,
            WaitTimeSeconds: 1,
            MessageAttributeNames: ['All'],
          }),
        );
        received.push(...Messages);
      }
      const deleted = await client.send(
        new DeleteMessageBatchCommand({
          QueueUrl: url,
          Entries: received.map(({ ReceiptHandle }, n) => ({ Id: String(n), ReceiptHandle })),
        }),
      );
      const empty = await client.send(new ReceiveMessageCommand({ QueueUrl: url }));
      return {
        sent: sent.Successful?.map(({ Id, MD5OfMessageBody }) => [Id, MD5OfMessageBody]),
        received: received
          .map(({ Body, MD5OfBody, MessageAttributes }) => ({ Body, MD5OfBody, MessageAttributes }))
          .toSorted((a, b) => a.Body!.localeCompare(b.Body!)),
        deleted: deleted.Successful?.map(({ Id }) => Id),
        empty: empty.Messages,
      };
    };
    const direct = await outcomeOf(emulator.client);
    expect(direct).toEqual(await outcomeOf(emulator.direct));
    expect(direct.received[2]!.MessageAttributes!.bytes!.BinaryValue).toEqual(new Uint8Array([0, 255]));
    expect(direct.sent).toHaveLength(2);
  });

  it('fail with the same errors', async () => {
    const errorOf = async (client: SQSClient) => {
      const missing = new ReceiveMessageCommand({ QueueUrl: `${await emulator.queue.url()}-missing` });
      const error = await client.send(missing).catch((thrown: unknown) => thrown);
      const { name, message, $fault, $metadata } = error as SQSServiceException;
      expect(error).toBeInstanceOf(SQSServiceException);
      return { name, message, $fault, status: $metadata.httpStatusCode };
    };
    expect(await errorOf(emulator.client)).toEqual(await errorOf(emulator.direct));
  });
});

describe('a direct request to SQS', () => {
  let sqs: Awaited<ReturnType<typeof startRecordingServer>>;
  const opened: SQSClient[] = [];
  beforeEach(async () => {
    sqs = await startRecordingServer();
  });
  afterEach(async () => {
    for (const each of opened.splice(0)) each.destroy();
    await sqs.stop();
  });

  function open(options: Partial<SqsClientOptions> = {}): SQSClient {
    const client = createSqsClient({
      region: 'eu-west-1',
      endpoint: sqs.url.href,
      requests: 'direct',
      maxAttempts: 1,
      ...options,
    });
    opened.push(client);
    return client;
  }

  const answerJson = (body: object, status = 200) =>
    sqs.answers.push({
      status,
      headers: { 'content-type': 'application/x-amz-json-1.0' },
      body: JSON.stringify(body),
    });

  it.each(['', 'base/'])('has the signature that SQS computes, below /%s', async (basePath) => {
    answerJson({});
    await open({ endpoint: `${sqs.url.href}${basePath}` }).send(receive({ WaitTimeSeconds: 0 }));
    const [request] = sqs.received;
    expect(request).toMatchObject({ method: 'POST', path: `/${basePath}` });
    expect(request!.headers).toMatchObject({
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': 'AmazonSQS.ReceiveMessage',
    });
    expect(JSON.parse(request!.body.toString())).toEqual({ QueueUrl, WaitTimeSeconds: 0 });
    expect(request!.headers.authorization).toContain('/eu-west-1/sqs/aws4_request');
    expect(sentSignature(request!)).toBe(expectedSignature(request!, 'test'));
  });

  it('refuses a received body that is damaged', async () => {
    answerJson({ Messages: [{ MessageId: 'the id', Body: 'another body', MD5OfBody: MD5 }] });
    await expect(open().send(receive())).rejects.toThrow('Invalid MD5 checksum on messages: the id');
  });

  it('refuses the answer that another body was sent', async () => {
    answerJson({ Successful: [{ Id: '0', MessageId: 'the id', MD5OfMessageBody: MD5 }] });
    await expect(open().send(sendBatch('another body'))).rejects.toThrow(
      'Invalid MD5 checksum on messages: the id',
    );
  });

  it('is repeated after a failure of SQS, as often as the client allows', async () => {
    answerJson({ __type: 'com.amazonaws.sqs#InternalFailure' }, 500);
    answerJson({});
    await open({ maxAttempts: 2 }).send(receive());
    expect(sqs.received).toHaveLength(2);
    answerJson({ __type: 'com.amazonaws.sqs#InternalFailure' }, 500);
    await expect(open().send(receive())).rejects.toMatchObject({
      name: 'InternalFailure',
      $fault: 'server',
      $metadata: { httpStatusCode: 500 },
    });
    expect(sqs.received).toHaveLength(3);
  });

  it('is not repeated when SQS refuses it', async () => {
    const client = open({ maxAttempts: 2 });
    await client.send(receive()); // granted: the SDK is not asked
    answerJson({ __type: 'com.amazonaws.sqs#QueueDoesNotExist', message: 'No such queue.' }, 400);
    await expect(client.send(receive())).rejects.toMatchObject({
      name: 'QueueDoesNotExist',
      message: 'No such queue.',
    });
    expect(sqs.received).toHaveLength(2);
  });

  it('ends with an error when a proxy answers, or nobody', async () => {
    sqs.answers.push({ status: 502, body: '<html>Bad Gateway</html>' });
    await expect(open().send(receive())).rejects.toMatchObject({ $metadata: { httpStatusCode: 502 } });
    const client = open();
    await sqs.stop();
    await expect(client.send(receive())).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('is sent by the SDK, from then on and with one warning, when SQS refuses it and grants that', async () => {
    const refusals: unknown[] = [];
    const client = open({ onDirectRefused: (error) => refusals.push(error) });
    answerJson({ __type: 'InvalidSignatureException' }, 403);
    for (let n = 0; n < 3; n += 1) await client.send(receive());
    const bySdk = sqs.received.map(({ headers }) => headers['amz-sdk-invocation-id'] !== undefined);
    expect(bySdk).toEqual([false, true, true, true]);
    expect(refusals).toMatchObject([{ name: 'InvalidSignatureException' }]);
  });

  it('is not sent by the SDK because SQS had too many requests', async () => {
    const client = open();
    answerJson({ __type: 'com.amazonaws.sqs#RequestThrottled' }, 403);
    await expect(client.send(receive())).rejects.toMatchObject({ name: 'RequestThrottled' });
    expect(sqs.received).toHaveLength(1);
  });

  it.each([
    'com.amazonaws.sqs#QueueDoesNotExist',
    'AWS.SimpleQueueService.BatchRequestTooLong',
    'InvalidParameterValue:http://internal.amazon.com/coral/',
    undefined,
  ])('fails as one of the SDK when SQS answers with the type %s', async (__type) => {
    const nameOf = async (requests: 'direct' | 'sdk') => {
      const client = open({ requests });
      if (requests === 'direct') await client.send(receive()); // granted: the SDK is not asked
      answerJson({ __type }, 400);
      return await client.send(receive()).catch((error: Error) => error.name);
    };
    const name = await nameOf('sdk');
    expect(await nameOf('direct')).toBe(name === 'Unknown' ? 'UnknownError' : name);
  });

  it('is not sent by the SDK when SQS refuses that, too, or has granted a direct one before', async () => {
    const client = open();
    const refuse = () => answerJson({ __type: 'com.amazonaws.sqs#QueueDoesNotExist' }, 400);
    for (let n = 0; n < 2; n += 1) refuse();
    await expect(client.send(receive())).rejects.toMatchObject({ name: 'QueueDoesNotExist' });
    expect(sqs.received).toHaveLength(2);
    await client.send(receive());
    refuse();
    await expect(client.send(receive())).rejects.toMatchObject({ name: 'QueueDoesNotExist' });
    expect(sqs.received).toHaveLength(4);
    expect(sqs.received.at(-1)!.headers['amz-sdk-invocation-id']).toBeUndefined();
  });

  it('leaves messages with bytes in their attributes to the SDK', async () => {
    const body = 'the body';
    answerJson({ Successful: [{ Id: '0', MessageId: 'the id', MD5OfMessageBody: MD5 }] });
    const MessageAttributes = { bytes: { DataType: 'Binary', BinaryValue: new Uint8Array([0, 255]) } };
    const Entries = [{ Id: '0', MessageBody: body, MessageAttributes }];
    await open().send(new SendMessageBatchCommand({ QueueUrl, Entries }));
    expect(sqs.received[0]!.headers['amz-sdk-invocation-id']).toBeDefined();
    expect(JSON.parse(sqs.received[0]!.body.toString()).Entries[0].MessageAttributes.bytes.BinaryValue).toBe(
      'AP8=',
    );
  });

  it('ends with its client, also when two were the first at once', async () => {
    const client = open();
    await Promise.all([client.send(receive()), client.send(receive())]);
    client.destroy();
    await expect(client.send(receive())).rejects.toThrow('destroyed');
  });

  it('speaks HTTP/1.1 as the SDK does, whose errors of a connection decide about another attempt', async () => {
    const greeting = Promise.withResolvers<Buffer>();
    const server = createServer((socket) => {
      socket
        .on('error', () => {})
        .once('data', (bytes: Buffer) => {
          greeting.resolve(bytes);
          socket.destroy();
        });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const sent = open({ endpoint: `https://127.0.0.1:${port}` }).send(receive());
    await expect(sent).rejects.toThrow();
    const bytes = await greeting.promise;
    expect(bytes.includes('\x08http/1.1')).toBe(true);
    expect(bytes.includes('\x02h2')).toBe(false);
    await new Promise((resolve) => server.close(resolve));
  });

  it('is aborted by its signal', async () => {
    const abort = new AbortController();
    abort.abort();
    const sent = open().send(receive(), { abortSignal: abort.signal });
    await expect(sent).rejects.toMatchObject({ name: 'AbortError' });
  });
});
