import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { DispatchStamps } from '../src/dispatch-stamps.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

function startStamps() {
  const stamped: (readonly string[])[] = [];
  const errors: [string, number][] = [];
  const ends: PromiseWithResolvers<void>[] = [];
  const stamps = new DispatchStamps({
    stamp: (executionIds) => {
      stamped.push(executionIds);
      ends.push(Promise.withResolvers());
      return ends.at(-1)!.promise;
    },
    onError: (error, count) => errors.push([(error as Error).message, count]),
  });
  return { stamps, stamped, errors, ends };
}

it('executions are stamped together, half a second after the first of them was sent', async () => {
  const { stamps, stamped } = startStamps();
  stamps.add(['a', 'b']);
  await jest.advanceTimersByTimeAsync(499);
  stamps.add(['c']);
  expect(stamped).toEqual([]);
  await jest.advanceTimersByTimeAsync(1);
  expect(stamped).toEqual([['a', 'b', 'c']]);
  stamps.add(['d']);
  await jest.advanceTimersByTimeAsync(500);
  expect(stamped).toEqual([['a', 'b', 'c'], ['d']]);
});

it('a stop stamps at once, and waits for every stamp that runs', async () => {
  const { stamps, stamped, ends } = startStamps();
  stamps.add(['a']);
  await jest.advanceTimersByTimeAsync(500);
  stamps.add(['b']);
  let stopped = false;
  void stamps.stampNow().then(() => (stopped = true));
  expect(stamped).toEqual([['a'], ['b']]);
  ends[1]!.resolve();
  await jest.advanceTimersByTimeAsync(1000);
  expect(stopped).toBe(false);
  ends[0]!.resolve();
  await jest.advanceTimersByTimeAsync(0);
  expect(stopped).toBe(true);
  expect(stamped).toHaveLength(2);
});

it('a stamp that fails is reported, and later ones are made', async () => {
  const { stamps, stamped, errors, ends } = startStamps();
  stamps.add(['a', 'b']);
  await jest.advanceTimersByTimeAsync(500);
  ends[0]!.reject(new Error('gone'));
  stamps.add(['c']);
  await jest.advanceTimersByTimeAsync(500);
  expect(errors).toEqual([['gone', 2]]);
  expect(stamped).toEqual([['a', 'b'], ['c']]);
});
