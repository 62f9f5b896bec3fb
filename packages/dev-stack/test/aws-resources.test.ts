import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { startAwsEmulator, type AwsEmulator } from '../src/index.ts';

interface Durations {
  readonly visibilitySeconds: number;
  readonly retentionSeconds: number;
}
interface QueueDescription extends Durations {
  readonly name: string;
  readonly maxReceiveCount: number;
  readonly deadLetters: Durations;
}
const { bucket, deadLetterSuffix, queues } = JSON.parse(
  readFileSync(new URL('../../../infra/resources.json', import.meta.url), 'utf8'),
) as { bucket: { name: string }; deadLetterSuffix: string; queues: Record<string, QueueDescription> };

let dataDir: string;
let emulator: AwsEmulator;
const listen = jest.spyOn(Server.prototype, 'listen');
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'pasteflow-resources-'));
  emulator = await startAwsEmulator({ dataDir });
});
afterAll(async () => {
  await emulator.stop();
  await rm(dataDir, { recursive: true });
});

async function sqs<T>(action: string, body: object): Promise<T> {
  const response = await fetch(emulator.endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': `AmazonSQS.${action}` },
    body: JSON.stringify(body),
  });
  return (await response.json()) as T;
}

async function attributesOf(name: string): Promise<Record<string, string>> {
  const { QueueUrl } = await sqs<{ QueueUrl: string }>('GetQueueUrl', { QueueName: name });
  const { Attributes } = await sqs<{ Attributes: Record<string, string> }>('GetQueueAttributes', {
    QueueUrl,
    AttributeNames: ['All'],
  });
  return Attributes;
}

const durationAttributes = ({ visibilitySeconds, retentionSeconds }: Durations) => ({
  VisibilityTimeout: String(visibilitySeconds),
  MessageRetentionPeriod: String(retentionSeconds),
});

describe('the emulator', () => {
  it.each(Object.values(queues).map((queue) => [queue.name, queue] as const))(
    'has the queue %s and its dead-letter queue as infra/resources.json describes them',
    async (name, queue) => {
      const deadLetters = await attributesOf(`${name}${deadLetterSuffix}`);
      expect(deadLetters).toMatchObject(durationAttributes(queue.deadLetters));
      const attributes = await attributesOf(name);
      expect(attributes).toMatchObject(durationAttributes(queue));
      expect(JSON.parse(attributes['RedrivePolicy'] ?? '')).toEqual({
        deadLetterTargetArn: deadLetters['QueueArn'],
        maxReceiveCount: queue.maxReceiveCount,
      });
    },
  );

  it('has the queues and the bucket of infra/resources.json, and no others', async () => {
    const { QueueUrls } = await sqs<{ QueueUrls: string[] }>('ListQueues', {});
    const names = Object.values(queues).flatMap(({ name }) => [name, `${name}${deadLetterSuffix}`]);
    expect(QueueUrls.map((url) => url.split('/').at(-1) ?? '').toSorted()).toEqual(names.toSorted());
    const listing = await (await fetch(emulator.endpoint)).text();
    expect([...listing.matchAll(/<Name>([^<]*)</g)].map(([, name]) => name)).toEqual([bucket.name]);
  });
});

it('an emulator on a free port listens once, so that no other program can take a port that was chosen before', () => {
  expect(listen.mock.calls).toEqual([[expect.objectContaining({ port: 0 })]]);
});
