import { describe, expect, it } from '@jest/globals';
import type { Delivery, VisibilityChange } from '@pasteflow/sqs';
import { HeldMessages } from '../../src/executions/held-messages.ts';

function setUp() {
  const changes: VisibilityChange[] = [];
  const returned: [string, number][] = [];
  let gate: PromiseWithResolvers<void> | undefined;
  const messages = new HeldMessages({
    visibilitySeconds: 10,
    changeVisibility: async (asked) => {
      changes.push(...asked);
      await gate?.promise;
    },
    returner: { returnToQueue: (receiptHandle, waitMs) => void returned.push([receiptHandle, waitMs]) },
  });
  /** The next requests hang until it is resolved. */
  const hiding = () => (gate = Promise.withResolvers<void>());
  return { messages, changes, returned, hiding };
}

const delivery = (receiptHandle: string): Delivery<string> => ({
  body: '',
  context: {},
  receiptHandle,
  message: {},
});

describe('the heartbeat of messages', () => {
  it('keeps those hidden that are held, and no others', async () => {
    const { messages, changes, returned } = setUp();
    const [held, given] = [delivery('held'), delivery('given back')];
    await messages.whileHeld([held, given], async () => {
      await messages.returnToQueue(given, 1500);
      await messages.keepHidden();
    });
    expect(changes).toEqual([{ receiptHandle: 'held', seconds: 10 }]);
    expect(returned).toEqual([['given back', 1500]]);
    await messages.keepHidden();
    expect(changes).toHaveLength(1);
  });

  it('lets go of a batch whose work failed', async () => {
    const { messages, changes } = setUp();
    const work = messages.whileHeld([delivery('held')], () => Promise.reject(new Error('no')));
    await expect(work).rejects.toThrow('no');
    await messages.keepHidden();
    expect(changes).toEqual([]);
  });

  it('never hides a message again that was given back while its requests were under way', async () => {
    const { messages, changes, returned, hiding } = setUp();
    const deliveries = Array.from({ length: 12 }, (_, n) => delivery(`message ${n}`));
    await messages.whileHeld(deliveries, async () => {
      const first = hiding();
      const beat = messages.keepHidden();
      const giving = Promise.all([3, 11].map((n) => messages.returnToQueue(deliveries[n]!, 0)));
      await new Promise((resolve) => setTimeout(resolve, 10));
      expect(returned).toEqual([]); // the request that hides message 3 is under way
      first.resolve();
      await Promise.all([beat, giving]);
    });
    expect(returned.map(([receiptHandle]) => receiptHandle)).toEqual(['message 3', 'message 11']);
    expect(changes.map(({ receiptHandle }) => receiptHandle)).not.toContain('message 11');
    expect(changes).toHaveLength(11);
  });
});
