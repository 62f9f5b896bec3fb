import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { createSqsClient, type SqsClient } from '../src/index.ts';

const MINUTES = 60_000;
const realNow = Date.now;
let server: Server | undefined;
let client: SqsClient | undefined;

beforeAll(() => {
  process.env.AWS_ACCESS_KEY_ID = 'test';
  process.env.AWS_SECRET_ACCESS_KEY = 'test';
});
afterEach(() => {
  jest.restoreAllMocks();
  delete process.env.AWS_ENDPOINT_URL_SQS;
  client?.destroy();
  server?.closeAllConnections();
  server?.close();
});

async function serve(answer: RequestListener): Promise<string> {
  server = createServer((req, res) => req.resume().once('end', () => answer(req, res)));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function openClient(options: Partial<Parameters<typeof createSqsClient>[0]>): SqsClient {
  client = createSqsClient({ region: 'us-east-1', maxAttempts: 1, ...options });
  return client;
}

/** Nobody listens on the port of the queue's URL. */
const receive = (to: SqsClient) =>
  to.send(new ReceiveMessageCommand({ QueueUrl: 'http://127.0.0.1:1/000000000000/pasteflow-uploads' }));

describe.each(['direct', 'sdk'] as const)('a %s request to SQS', (requests) => {
  const open = (options: Partial<Parameters<typeof createSqsClient>[0]>) =>
    openClient({ requests, ...options });

  it('goes to the endpoint of the environment, whatever host the URL of the queue has', async () => {
    process.env.AWS_ENDPOINT_URL_SQS = await serve((_req, res) => res.end('{}'));
    expect(await receive(open({}))).toMatchObject({ $metadata: { httpStatusCode: 200 } });
  });

  it('ends when its answer does not begin in time', async () => {
    const sqs = open({ endpoint: await serve(() => {}), requestTimeoutMs: 200 });
    await expect(receive(sqs)).rejects.toMatchObject({ name: 'TimeoutError' });
  });

  it('ends when its answer stops in the middle', async () => {
    const endpoint = await serve((_req, res) => res.write('{"Messages":'));
    const sqs = open({ endpoint, requestTimeoutMs: 200 });
    await expect(receive(sqs)).rejects.toMatchObject({ name: 'TimeoutError' });
  });

  it('follows the clock of SQS after one that was refused, also when a clock is corrected later', async () => {
    let aheadHere = 0;
    jest.spyOn(Date, 'now').mockImplementation(() => realNow() + aheadHere);
    const endpoint = await serve((req, res) => {
      const signedAt = String(req.headers['x-amz-date']).replace(
        /(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z/,
        '$1-$2-$3T$4:$5:$6Z',
      );
      res.setHeader('date', new Date(realNow()).toUTCString());
      if (Math.abs(Date.parse(signedAt) - realNow()) < 15 * MINUTES) return res.end('{}');
      res.writeHead(403).end(JSON.stringify({ __type: 'com.amazonaws.sqs#RequestTimeTooSkewed' }));
    });
    const sqs = open({ endpoint });
    for (aheadHere of [0, 20 * MINUTES, -30 * MINUTES, 0]) {
      await receive(sqs).catch(() => {}); // refused, when the clock has changed
      expect(await receive(sqs)).toMatchObject({ $metadata: { httpStatusCode: 200 } });
    }
  });
});
