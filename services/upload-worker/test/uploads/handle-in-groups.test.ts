import { describe, expect, it } from '@jest/globals';
import { handleInGroups } from '../../src/uploads/handle-in-groups.ts';

function deferred<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  return Promise.withResolvers<T>();
}

describe('results in groups', () => {
  it('are one group when all arrive before the wait ends', async () => {
    const groups: number[][] = [];
    const pending = [1, 2, 3].map((n) => Promise.resolve(n));
    await handleInGroups(pending, 60_000, (group) => Promise.resolve(void groups.push([...group])));
    expect(groups).toEqual([[1, 2, 3]]);
  });

  it('are handled without a slow one, which becomes a group of its own', async () => {
    const slow = deferred<string>();
    const groups: string[][] = [];
    const first = deferred<void>();
    const all = handleInGroups(
      [Promise.resolve('quick'), slow.promise, Promise.resolve('quick too')],
      1,
      (group) => {
        groups.push([...group]);
        first.resolve();
        return Promise.resolve();
      },
    );
    await first.promise;
    expect(groups).toEqual([['quick', 'quick too']]);
    slow.resolve('slow');
    await all;
    expect(groups).toEqual([['quick', 'quick too'], ['slow']]);
  });

  it('resolve only when every group has been handled', async () => {
    const handled = deferred<void>();
    let done = false;
    const all = handleInGroups([Promise.resolve(1)], 1, () => handled.promise).then(() => (done = true));
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(done).toBe(false);
    handled.resolve();
    await all;
  });

  it('of an empty list are no group', async () => {
    await handleInGroups([], 1, () => Promise.reject(new Error('called')));
  });
});
