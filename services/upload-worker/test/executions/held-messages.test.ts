import { describe, expect, it } from '@jest/globals';
import type { Delivery, VisibilityChange } from '@pasteflow/sqs';
import { HeldMessages } from '../../src/executions/held-messages.ts';

function setUp() {
  const changes: VisibilityChange[] = [];
  const returned: [string, number][] = [];
  let gate: PromiseWithResolvers<void> | undefined;
  const messages = new HeldMessages({
    visibilitySeconds: 10,
    changeVisibility: async (batch) => {
      changes.push(...batch);
      await gate?.promise;
    },
    returner: { returnToQueue: (receiptHandle, waitMs) => void returned.push([receiptHandle, waitMs]) },
  });
  /** Requests hang from now on, until the returned promise is resolved. */
  const hangRequests = () => (gate = Promise.withResolvers<void>());
  return { messages, changes, returned, hangRequests };
}

const delivery = (receiptHandle: string): Delivery<string> => ({
  body: '',
  context: {},
  receiptHandle,
  message: {},
});

describe('the heartbeat of messages', () => {
  it('keeps the held messages hidden, and no others', async () => {
    const { messages, changes, returned } = setUp();
    const [held, released] = [delivery('held'), delivery('returned')];
    await messages.whileHeld([held, released], async () => {
      await messages.returnToQueue(released, 1500);
      await messages.keepHidden();
    });
    expect(changes).toEqual([{ receiptHandle: 'held', seconds: 10 }]);
    expect(returned).toEqual([['returned', 1500]]);
    await messages.keepHidden();
    expect(changes).toHaveLength(1);
  });

  it('no longer keeps messages hidden after their work has failed', async () => {
    const { messages, changes } = setUp();
    const work = messages.whileHeld([delivery('held')], () => Promise.reject(new Error('no')));
    await expect(work).rejects.toThrow('no');
    await messages.keepHidden();
    expect(changes).toEqual([]);
  });

  it('never hides a message that is returned while the heartbeat sends its requests', async () => {
    const { messages, changes, returned, hangRequests } = setUp();
    const deliveries = Array.from({ length: 12 }, (_, n) => delivery(`message ${n}`));
    await messages.whileHeld(deliveries, async () => {
      const hanging = hangRequests();
      const beat = messages.keepHidden();
      const returning = Promise.all([3, 11].map((n) => messages.returnToQueue(deliveries[n]!, 0)));
      await new Promise((resolve) => setTimeout(resolve, 10));
      expect(returned).toEqual([]); // the request that hides message 3 has not ended
      hanging.resolve();
      await Promise.all([beat, returning]);
    });
    expect(returned.map(([receiptHandle]) => receiptHandle)).toEqual(['message 3', 'message 11']);
    expect(changes.map(({ receiptHandle }) => receiptHandle)).not.toContain('message 11');
    expect(changes).toHaveLength(11);
  });
});
