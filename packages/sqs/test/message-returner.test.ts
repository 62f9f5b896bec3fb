import { describe, expect, it } from '@jest/globals';
import { MessageReturner } from '../src/index.ts';
import { until, useEmulator } from './support/emulator.ts';

const emulator = useEmulator();

function visibilities(): number[] {
  return emulator.proxy
    .matching({ target: 'ChangeMessageVisibilityBatch' })
    .flatMap(({ body }) => JSON.parse(body!.toString()).Entries as { VisibilityTimeout: number }[])
    .map(({ VisibilityTimeout }) => VisibilityTimeout);
}

describe('returning a message to its queue', () => {
  it('waits for the fraction of a second in the process, and for the whole seconds as visibility timeout', async () => {
    const returner = new MessageReturner(emulator.client, emulator.queue, () => {});
    const begun = performance.now();
    returner.returnToQueue('receipt', 3250);
    await until(() => visibilities().length === 1);
    const waited = emulator.proxy.matching({ target: 'ChangeMessageVisibilityBatch' })[0]!.at - begun;
    expect(visibilities()).toEqual([3]);
    expect(waited).toBeGreaterThanOrEqual(249);
    await returner.stop();
  });

  it('returns a message with no delay immediately', async () => {
    const returner = new MessageReturner(emulator.client, emulator.queue, () => {});
    returner.returnToQueue('receipt', 0);
    await returner.stop();
    expect(visibilities()).toEqual([0]);
  });

  it('returns waiting messages immediately when it is stopped', async () => {
    const returner = new MessageReturner(emulator.client, emulator.queue, () => {});
    returner.returnToQueue('one', 900);
    returner.returnToQueue('two', 16_100);
    await returner.stop();
    expect(visibilities().toSorted((a, b) => a - b)).toEqual([0, 16]);
  });

  it('returns those that are due together by tens in a request', async () => {
    const returner = new MessageReturner(emulator.client, emulator.queue, () => {});
    for (let n = 0; n < 12; n += 1) returner.returnToQueue(`receipt ${n}`, 6000);
    await until(() => visibilities().length === 12);
    expect(emulator.proxy.matching({ target: 'ChangeMessageVisibilityBatch' })).toHaveLength(2);
    await returner.stop();
  });

  it('reports a failure and throws nothing', async () => {
    emulator.proxy.rule({ target: 'ChangeMessageVisibilityBatch' }, { kind: 'fail', status: 500 });
    const errors: unknown[] = [];
    const returner = new MessageReturner(emulator.client, emulator.queue, (error) => errors.push(error));
    returner.returnToQueue('receipt', 0);
    await returner.stop();
    expect(errors).toMatchObject([{ code: 'dependency_unavailable', dependency: 'sqs' }]);
  });
});
