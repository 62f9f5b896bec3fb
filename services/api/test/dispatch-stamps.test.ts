import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { UPLOAD_STAMP_SECONDS } from '@pasteflow/domain';
import { DispatchStamps } from '../src/dispatch-stamps.ts';

const DELAY_MS = 1000 * UPLOAD_STAMP_SECONDS;

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

function startStamps() {
  const stamped: (readonly string[])[] = [];
  const ages: number[] = [];
  const errors: [string, number][] = [];
  const ends: PromiseWithResolvers<void>[] = [];
  const stamps = new DispatchStamps({
    stamp: (executionIds, sentSecondsAgo) => {
      stamped.push(executionIds);
      ages.push(sentSecondsAgo);
      ends.push(Promise.withResolvers());
      return ends.at(-1)!.promise;
    },
    onError: (error, count) => errors.push([(error as Error).message, count]),
  });
  return { stamps, stamped, ages, errors, ends };
}

it('executions that are sent within half a second are stamped together, three seconds after the first of them', async () => {
  const { stamps, stamped, ages } = startStamps();
  stamps.add(['a', 'b']);
  await jest.advanceTimersByTimeAsync(499);
  stamps.add(['c']);
  await jest.advanceTimersByTimeAsync(1);
  stamps.add(['d']);
  await jest.advanceTimersByTimeAsync(DELAY_MS - 501);
  expect(stamped).toEqual([]);
  await jest.advanceTimersByTimeAsync(1);
  expect(stamped).toEqual([['a', 'b', 'c']]);
  await jest.advanceTimersByTimeAsync(499);
  expect(stamped).toEqual([['a', 'b', 'c']]);
  await jest.advanceTimersByTimeAsync(1);
  expect(stamped).toEqual([['a', 'b', 'c'], ['d']]);
  expect(ages).toEqual([2.5, 2.5]); // when the last of them may have been sent
});

it('a stop stamps all at once, with the time of the latest, and waits for every stamp that runs', async () => {
  const { stamps, stamped, ages, ends } = startStamps();
  stamps.add(['a']);
  await jest.advanceTimersByTimeAsync(DELAY_MS);
  stamps.add(['b']);
  await jest.advanceTimersByTimeAsync(600);
  stamps.add(['c']);
  let stopped = false;
  void stamps.stampNow().then(() => (stopped = true));
  expect(stamped).toEqual([['a'], ['b', 'c']]);
  expect(ages).toEqual([2.5, 0]);
  ends[1]!.resolve();
  await jest.advanceTimersByTimeAsync(DELAY_MS);
  expect(stopped).toBe(false);
  ends[0]!.resolve();
  await jest.advanceTimersByTimeAsync(0);
  expect(stopped).toBe(true);
  expect(stamped).toHaveLength(2);
});

it('a stamp that fails is reported, and later ones are made', async () => {
  const { stamps, stamped, errors, ends } = startStamps();
  stamps.add(['a', 'b']);
  await jest.advanceTimersByTimeAsync(DELAY_MS);
  ends[0]!.reject(new Error('gone'));
  stamps.add(['c']);
  await jest.advanceTimersByTimeAsync(DELAY_MS);
  expect(errors).toEqual([['gone', 2]]);
  expect(stamped).toEqual([['a', 'b'], ['c']]);
});
