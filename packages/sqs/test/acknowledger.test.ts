import { ReceiveMessageCommand, type Message } from '@aws-sdk/client-sqs';
import { describe, expect, it } from '@jest/globals';
import { Acknowledger, queueCounts } from '../src/index.ts';
import { sendRaw, until, useEmulator } from './support/emulator.ts';

const emulator = useEmulator();

/** Sends messages and receives all of them, in batches of any size. */
async function receive(count: number): Promise<Message[]> {
  for (let n = 0; n < count; n++) await sendRaw(emulator, `message ${n}`);
  const received: Message[] = [];
  await until(async () => {
    const { Messages = [] } = await emulator.direct.send(
      new ReceiveMessageCommand({ QueueUrl: await emulator.queue.url(), MaxNumberOfMessages: 4 }),
    );
    received.push(...Messages);
    return received.length === count;
  });
  return received;
}

const deletions = (): number[] =>
  emulator.proxy
    .matching({ target: 'DeleteMessageBatch' })
    .map(({ body }) => (JSON.parse(body!.toString()) as { Entries: unknown[] }).Entries.length);

function acknowledger() {
  const errors: unknown[] = [];
  const { client, queue } = emulator;
  return {
    errors,
    acknowledger: new Acknowledger(client, queue, (error) => errors.push(error)),
  };
}

describe('messages that are acknowledged', () => {
  it('are deleted by tens, in whatever batches they came, and the rest soon after', async () => {
    const messages = await receive(24);
    const { acknowledger: own, errors } = acknowledger();
    await Promise.all(messages.map((message) => own.acknowledge(message)));
    expect(deletions().toSorted((a, b) => b - a)).toEqual([10, 10, 4]);
    expect(await queueCounts(emulator.direct, emulator.queue)).toEqual({
      visible: 0,
      inFlight: 0,
      delayed: 0,
    });
    expect(errors).toEqual([]);
  });

  it('by a request that fails stay in the queue, which is reported, and delay no later ones', async () => {
    const messages = await receive(11);
    emulator.proxy.rule({ target: 'DeleteMessageBatch' }, { kind: 'fail', status: 400 }, 1);
    const { acknowledger: own, errors } = acknowledger();
    await Promise.all(messages.slice(0, 10).map((message) => own.acknowledge(message)));
    expect(errors).toMatchObject([{ code: 'dependency_unavailable', dependency: 'sqs' }]);
    await own.acknowledge(messages[10]!);
    expect(errors).toHaveLength(1);
    expect(await queueCounts(emulator.direct, emulator.queue)).toMatchObject({ visible: 0, inFlight: 10 });
  });
});
