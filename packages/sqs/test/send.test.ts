import { createServer, type IncomingMessage, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createSqsClient, sendUploads, type OutgoingUpload, type SqsClient } from '../src/index.ts';
import { useEmulator } from './support/emulator.ts';

const emulator = useEmulator();
const KIB = 1024;

interface SentBatch {
  readonly Entries: readonly { readonly MessageBody: string }[];
}

let server: Server | undefined;
let client: SqsClient | undefined;
/** Of each request that the strict server got: the messages that have content inline. */
let inline: string[][] = [];

afterEach(() => {
  client?.destroy();
  server?.closeAllConnections();
  server?.close();
  inline = [];
});

/** An SQS in front of the emulator that answers what ElasticMQ and AWS answer to a batch that they refuse. */
async function strictClient(
  isRefused: (batch: SentBatch) => boolean,
  error = 'BatchRequestTooLong',
): Promise<SqsClient> {
  server = createServer((req, res) => {
    void buffer(req).then(async (body) => {
      const batch = JSON.parse(String(body)) as SentBatch;
      if (isSend(req)) inline.push(batch.Entries.flatMap(({ MessageBody }) => inlineCode(MessageBody)));
      if (isSend(req) && isRefused(batch)) {
        res.writeHead(400, { 'Content-Type': 'application/x-amz-json-1.0' });
        res.end(JSON.stringify({ __type: `com.amazonaws.sqs#${error}`, message: 'Refused by the test.' }));
        return;
      }
      const { method = '', headers } = req;
      const answer = await fetch(emulator.proxy.url, {
        method,
        headers: headers as Record<string, string>,
        body,
      });
      res.writeHead(answer.status, { 'Content-Type': 'application/x-amz-json-1.0' }).end(await answer.text());
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  client = createSqsClient({ region: 'us-east-1', endpoint: `http://127.0.0.1:${port}` });
  return client;
}

const isSend = ({ headers }: IncomingMessage) => headers['x-amz-target'] === 'AmazonSQS.SendMessageBatch';

function inlineCode(body: string): readonly string[] {
  const { shortCode, contentBytes } = JSON.parse(body) as { shortCode: string; contentBytes?: string };
  return contentBytes === undefined ? [] : [shortCode];
}

const uploads = (count: number, bytes: number): OutgoingUpload[] =>
  Array.from({ length: count }, (_, n) => ({
    executionId: `e${n}`,
    shortCode: `c${n}`,
    content: Buffer.alloc(bytes, 1),
    context: {},
  }));
const ids = (messages: readonly OutgoingUpload[]) => messages.map(({ executionId }) => executionId);

describe('messages that are sent together', () => {
  it('are halved until the server takes their number of bytes', async () => {
    const strict = await strictClient(({ Entries }) => JSON.stringify(Entries).length > 100 * KIB);
    const messages = uploads(4, 40 * KIB);
    expect([...(await sendUploads(strict, emulator.queue, messages))].toSorted()).toEqual(ids(messages));
    expect(inline.map((codes) => codes.length)).toEqual([4, 2, 1, 1, 2, 1, 1]);
  });

  it('are sent without the content of those that the server refuses', async () => {
    const isRefused = ({ Entries }: SentBatch) =>
      Entries.some(({ MessageBody }) => MessageBody.length > 32 * KIB);
    const strict = await strictClient(isRefused, 'InvalidParameterValue');
    const messages = [...uploads(1, 44 * KIB), ...uploads(3, KIB).slice(1)];
    expect([...(await sendUploads(strict, emulator.queue, messages))].toSorted()).toEqual(ids(messages));
    expect(inline).toEqual([['c0', 'c1', 'c2'], ['c0', 'c1'], ['c0'], [], ['c1'], ['c2']]);
  });

  it('are all reported as unsent when the server refuses each of them', async () => {
    const strict = await strictClient(() => true);
    await expect(sendUploads(strict, emulator.queue, uploads(2, KIB))).rejects.toMatchObject({
      code: 'dependency_unavailable',
    });
  });

  it.each(['BatchRequestTooLong', 'MessageTooLong', 'InvalidAttributeValue'])(
    'are halved when the server answers %s',
    async (error) => {
      const strict = await strictClient(({ Entries }) => Entries.length > 1, error);
      const messages = uploads(2, KIB);
      expect([...(await sendUploads(strict, emulator.queue, messages))].toSorted()).toEqual(ids(messages));
      expect(inline.map((codes) => codes.length)).toEqual([2, 1, 1]);
    },
  );

  it.each([
    'ThrottlingException',
    'KmsDisabled',
    'KmsAccessDenied',
    'AccessDeniedException',
    'OptInRequired',
    'RequestExpired',
  ])('are sent once when the reason is none of the messages: %s', async (error) => {
    const strict = await strictClient(() => true, error);
    await expect(sendUploads(strict, emulator.queue, uploads(10, KIB))).rejects.toMatchObject({
      code: 'dependency_unavailable',
    });
    expect(inline.length).toBeLessThanOrEqual(2); // the client tries twice
  });
});
