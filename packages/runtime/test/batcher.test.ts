import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { ONE_AT_A_TIME, REFUSED, startBatcher } from './support/start-batcher.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

describe('calls of a batcher that runs one batch at a time', () => {
  it('start at once when nothing is under way; those that arrive meanwhile go together in the next batch', async () => {
    const { runs, outcomes, call, itemsOf } = startBatcher();
    for (const item of ['a', 'b', 'c']) call(item);
    expect(itemsOf()).toEqual([['a']]);
    await runs[0]!.succeed();
    expect(outcomes).toEqual({ a: 'a' });
    expect(itemsOf()).toEqual([['a'], ['b', 'c']]);
    call('d');
    await runs[1]!.succeed();
    await runs[2]!.succeed();
    expect(outcomes).toEqual({ a: 'a', b: 'b', c: 'c', d: 'd' });
    expect(itemsOf()).toEqual([['a'], ['b', 'c'], ['d']]);
    call('e');
    expect(itemsOf()).toHaveLength(4);
  });

  it('go at most 64 together, and at most 1 MiB, in the order of their arrival', async () => {
    const many = startBatcher();
    const items = Array.from({ length: 70 }, (_, n) => `item ${n}`);
    for (const item of ['first', ...items]) many.call(item);
    await many.runs[0]!.succeed();
    await many.runs[1]!.succeed();
    expect(many.itemsOf()).toEqual([['first'], items.slice(0, 64), items.slice(64)]);

    const large = startBatcher({ ...ONE_AT_A_TIME, bytesOf: (item) => Number(item) });
    for (const bytes of ['1', '1048575', '1', '1', '9999999', '5']) large.call(bytes);
    for (const n of [0, 1, 2, 3]) await large.runs[n]!.succeed();
    expect(large.itemsOf()).toEqual([['1'], ['1048575', '1'], ['1'], ['9999999'], ['5']]);
  });

  it('start beside batches that are slow, at most four', async () => {
    const { runs, call, itemsOf } = startBatcher();
    for (const item of ['a', 'b', 'c', 'd', 'e']) {
      call(item);
      await jest.advanceTimersByTimeAsync(250);
    }
    expect(itemsOf()).toEqual([['a'], ['b'], ['c'], ['d']]);
    call('f');
    await runs[2]!.succeed();
    expect(itemsOf().slice(4)).toEqual([['e', 'f']]);
    call('g');
    await runs[0]!.succeed(); // the batch of e and f is not slow yet
    expect(itemsOf()).toHaveLength(5);
    await runs[4]!.succeed();
    expect(itemsOf().slice(5)).toEqual([['g']]);
  });

  it('are refused when 10,000 wait already, or when they have waited for 5 s', async () => {
    const { runs, outcomes, call } = startBatcher();
    call('running');
    for (let n = 0; n < 10_000; n += 1) call(`waiting ${n}`);
    call('one too many');
    await jest.advanceTimersByTimeAsync(0);
    expect(outcomes).toEqual({ 'one too many': REFUSED });
    await jest.advanceTimersByTimeAsync(5000);
    // Four batches have started: the first, and three of 64 when the ones before them were slow.
    expect(Object.keys(outcomes)).toHaveLength(1 + 10_000 - 3 * 64);
    for (const run of runs) await run.succeed();
    expect(outcomes).toMatchObject({ running: 'running', 'waiting 0': 'waiting 0' });
    expect(outcomes).toMatchObject({ 'waiting 9999': REFUSED });
  });
});

describe('when a batch fails', () => {
  const refused = new Error('refused');

  it('and has changed nothing, each of its calls runs alone, and only the bad one fails', async () => {
    const { runs, outcomes, call, itemsOf } = startBatcher({
      ...ONE_AT_A_TIME,
      canRunAlone: (error) => error === refused,
    });
    for (const item of ['a', 'b', 'bad', 'c']) call(item);
    await runs[0]!.succeed();
    await runs[1]!.fail(refused);
    expect(itemsOf().slice(2)).toEqual([['b'], ['bad'], ['c']]);
    await runs[2]!.succeed();
    await runs[4]!.succeed();
    await runs[3]!.fail(refused);
    expect(outcomes).toEqual({ a: 'a', b: 'b', bad: 'refused', c: 'c' });
    expect(runs).toHaveLength(5);
  });

  it('new calls run alone for as long as calls of that batch do', async () => {
    const { runs, call, itemsOf } = startBatcher({ ...ONE_AT_A_TIME, canRunAlone: () => true });
    for (const item of ['a', 'b', 'c']) call(item);
    await runs[0]!.succeed();
    await runs[1]!.fail(refused);
    await runs[2]!.succeed();
    for (const item of ['d', 'e']) call(item);
    expect(itemsOf().slice(2)).toEqual([['b'], ['c'], ['d'], ['e']]);
    for (const n of [3, 4, 5]) await runs[n]!.succeed();
    for (const item of ['f', 'g', 'h']) call(item);
    await runs[6]!.succeed();
    expect(itemsOf().slice(6)).toEqual([['f'], ['g', 'h']]);
  });

  it('and may have changed something, all of its calls fail, and none is repeated', async () => {
    const { runs, outcomes, call } = startBatcher({ ...ONE_AT_A_TIME, canRunAlone: () => false });
    for (const item of ['a', 'b', 'c']) call(item);
    await runs[0]!.succeed();
    await runs[1]!.fail(new Error('lost'));
    expect(outcomes).toEqual({ a: 'a', b: 'lost', c: 'lost' });
    expect(runs).toHaveLength(2);
    call('d');
    await runs[2]!.succeed();
    expect(outcomes).toMatchObject({ d: 'd' });
  });

  it('a call that was alone is not repeated', async () => {
    const { runs, outcomes, call } = startBatcher({ ...ONE_AT_A_TIME, canRunAlone: () => true });
    call('a');
    await runs[0]!.fail(refused);
    expect(outcomes).toEqual({ a: 'refused' });
    expect(runs).toHaveLength(1);
  });
});

it('a stop refuses the calls that wait and further ones, and completes those that run', async () => {
  const { batcher, runs, outcomes, call } = startBatcher();
  for (const item of ['a', 'b', 'd']) call(item);
  batcher.refuseAll();
  call('c');
  await jest.advanceTimersByTimeAsync(0);
  expect(outcomes).toEqual({ b: REFUSED, c: REFUSED, d: REFUSED });
  await runs[0]!.succeed();
  expect(outcomes).toMatchObject({ a: 'a' });
  expect(runs).toHaveLength(1);
});
