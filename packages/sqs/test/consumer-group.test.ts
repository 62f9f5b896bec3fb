import { afterEach, describe, expect, it } from '@jest/globals';
import { FaultProxy } from '@pasteflow/dev-stack/testing';
import type { UploadMessage } from '@pasteflow/domain';
import {
  acknowledge,
  ConsumerGroup,
  createSqsClient,
  decodeJob,
  decodeUpload,
  queueDepth,
  receiveDeadLetters,
  type Decode,
  type Delivery,
} from '../src/index.ts';
import { encodeJob, encodeUpload } from '../src/wire.ts';
import { sendRaw, until, useEmulator } from './support/emulator.ts';

type GroupParameters<Body> = ConstructorParameters<typeof ConsumerGroup<Body>>[0];

const emulator = useEmulator();
let group: { stop(): Promise<void> } | undefined;

afterEach(async () => {
  emulator.proxy.clear();
  await group?.stop();
  group = undefined;
});

const startGroup = (options: Partial<GroupParameters<UploadMessage>> = {}) =>
  startGroupOf(decodeUpload, options);

function startGroupOf<Body>(
  decode: Decode<Body>,
  options: Partial<GroupParameters<Body>>,
): { received: Delivery<Body>[]; errors: unknown[] } {
  const received: Delivery<Body>[] = [];
  const errors: unknown[] = [];
  const started = new ConsumerGroup<Body>({
    client: emulator.client,
    queue: emulator.queue,
    deadLetterQueue: emulator.deadLetters,
    consumers: 2,
    batchSize: 10,
    decode,
    visibilitySeconds: 10,
    handle: (deliveries) => {
      received.push(...deliveries);
      return Promise.resolve(deliveries);
    },
    beforeReceive: () => Promise.resolve(),
    onMalformed: () => {},
    onError: (error) => errors.push(error),
    ...options,
  });
  started.start();
  group = started;
  return { received, errors };
}

describe('a consumer group', () => {
  it('passes decoded messages to the handler, and acknowledges a batch in one request', async () => {
    for (let n = 0; n < 10; n++) await sendRaw(emulator, encodeUpload(`c${n}`, Buffer.from('x')));
    const { received } = startGroup({ consumers: 1 });
    await until(() => received.length === 10);
    await group!.stop();
    expect(received.map(({ body }) => body.shortCode).toSorted()[0]).toBe('c0');
    expect(emulator.proxy.matching({ target: 'DeleteMessageBatch' })).toHaveLength(1);
    expect(await queueDepth(emulator.direct, emulator.queue)).toBe(0);
  });

  it('gives a consumer with a batch size of 1 the next message only after it has handled the previous one', async () => {
    const ids = ['0190b8a0-0000-7000-8000-000000000001', '0190b8a0-0000-7000-8000-000000000002'];
    for (const id of ids) await sendRaw(emulator, encodeJob(id));
    const batches: string[][] = [];
    const first = Promise.withResolvers<void>();
    startGroupOf(decodeJob, {
      consumers: 1,
      batchSize: 1,
      handle: async (deliveries) => {
        batches.push(deliveries.map(({ body }) => body.jobId));
        if (batches.length === 1) await first.promise;
        return deliveries;
      },
    });
    await until(() => batches.length === 1);
    expect(emulator.proxy.matching({ target: 'ReceiveMessage' })).toHaveLength(1);
    first.resolve();
    await until(() => batches.length === 2);
    await group!.stop();
    expect(batches.map(({ length }) => length)).toEqual([1, 1]);
    expect(batches.flat().toSorted()).toEqual(ids);
    expect(await queueDepth(emulator.direct, emulator.queue)).toBe(0);
  });

  it('moves a malformed message to the dead-letter queue and continues', async () => {
    const malformed: (string | undefined)[] = [];
    await sendRaw(emulator, 'poison');
    await sendRaw(emulator, encodeUpload('good', null));
    const { received } = startGroup({ onMalformed: (_error, { Body }) => malformed.push(Body) });
    await until(() => received.length === 1 && malformed.length === 1);
    await group!.stop();
    const dead = await receiveDeadLetters(emulator.direct, emulator.deadLetters);
    expect(dead.map(({ Body }) => Body)).toEqual(['poison']);
    await acknowledge(emulator.direct, emulator.deadLetters, dead);
    expect(await queueDepth(emulator.direct, emulator.queue)).toBe(0);
    expect(received.map(({ body }) => body.shortCode)).toEqual(['good']);
  });

  it('backs off while SQS fails, and receives again once SQS is back', async () => {
    emulator.proxy.rule({ target: 'ReceiveMessage' }, { kind: 'fail', status: 500 });
    const { received, errors } = startGroup({ consumers: 1 });
    await until(() => errors.length >= 3);
    // 100, 200 and 400 ms apart. sqs-consumer alone makes about 500 receives a second. The client attempts
    // each request twice.
    expect(emulator.proxy.matching({ target: 'ReceiveMessage' }).length).toBeLessThanOrEqual(
      2 * (errors.length + 1),
    );
    emulator.proxy.clear();
    await sendRaw(emulator, encodeUpload('after', null));
    await until(() => received.length === 1);
  });

  it('starts while SQS is down, and receives once SQS is up', async () => {
    await emulator.proxy.down();
    const { received, errors } = startGroup();
    await until(() => errors.length > 0);
    await emulator.proxy.up();
    await sendRaw(emulator, encodeUpload('late', null));
    await until(() => received.length === 1);
  });

  it('receives nothing until beforeReceive resolves', async () => {
    let open = () => {};
    const gate = new Promise<void>((resolve) => (open = resolve));
    let asked = 0;
    // A proxy of its own: a receive of the test before may still reach the one that all tests share.
    const proxy = await FaultProxy.start(emulator.proxy.url);
    const client = createSqsClient({ region: 'us-east-1', endpoint: proxy.url });
    const { received } = startGroup({
      client,
      beforeReceive: () => {
        asked += 1;
        return gate;
      },
    });
    await sendRaw(emulator, encodeUpload('held', null));
    await until(() => asked === 1);
    const receives = proxy.matching({ target: 'ReceiveMessage' }).length;
    open();
    expect(receives).toBe(0);
    await until(() => received.length === 1);
    await group!.stop();
    client.destroy();
    await proxy.stop();
  });

  it('stops only after its running batches have been handled and acknowledged', async () => {
    await sendRaw(emulator, encodeUpload('slow', null));
    let finish = () => {};
    const finished = new Promise<void>((resolve) => (finish = resolve));
    let handling = false;
    startGroup({
      handle: async (deliveries) => {
        handling = true;
        await finished;
        return deliveries;
      },
    });
    await until(() => handling);
    let stopped = false;
    const stopping = group!.stop().then(() => (stopped = true));
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(stopped).toBe(false);
    const deletions = () => emulator.proxy.matching({ target: 'DeleteMessageBatch' }).length;
    const before = deletions();
    finish();
    await stopping;
    expect(deletions()).toBe(before + 1);
  });
});
