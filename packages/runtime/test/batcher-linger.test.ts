import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { REFUSED, startBatcher } from './support/start-batcher.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** Of requests to SQS: by tens, and what comes within a few ms together. */
const LINGERING = { maxItems: 10, lingerMs: 25 };

const twelve = Array.from({ length: 12 }, (_, n) => `${n}`);

describe('calls of a batcher that lingers', () => {
  it('wait for others from the first one on, and start at once when their batch is full', async () => {
    const { call, itemsOf } = startBatcher(LINGERING);
    call('a');
    await jest.advanceTimersByTimeAsync(20);
    call('b');
    expect(itemsOf()).toEqual([]);
    await jest.advanceTimersByTimeAsync(5);
    expect(itemsOf()).toEqual([['a', 'b']]);
    for (const item of twelve) call(item);
    expect(itemsOf().slice(1)).toEqual([twelve.slice(0, 10)]);
    await jest.advanceTimersByTimeAsync(24);
    expect(itemsOf()).toHaveLength(2);
    await jest.advanceTimersByTimeAsync(1);
    expect(itemsOf().slice(2)).toEqual([twelve.slice(10)]);
    for (const item of twelve.slice(0, 10)) call(item);
    await jest.advanceTimersByTimeAsync(10);
    call('c');
    await jest.advanceTimersByTimeAsync(24);
    expect(itemsOf()).toHaveLength(4); // the full batch has left no timer behind
    await jest.advanceTimersByTimeAsync(1);
    expect(itemsOf().slice(4)).toEqual([['c']]);
  });

  it('start at once when their batch is full of bytes', () => {
    const { call, itemsOf } = startBatcher({ ...LINGERING, bytesOf: Number, maxBytes: 100 });
    for (const bytes of ['60', '30']) call(bytes);
    expect(itemsOf()).toEqual([]);
    call('10');
    expect(itemsOf()).toEqual([['60', '30', '10']]);
    for (const bytes of ['60', '50']) call(bytes);
    expect(itemsOf().slice(1)).toEqual([['60'], ['50']]);
  });

  it('start at once, with those that wait, when no other can come', () => {
    let left = 3;
    const { call, itemsOf } = startBatcher({ ...LINGERING, isLast: () => left === 0 });
    for (const item of ['a', 'b', 'c']) {
      left -= 1;
      call(item);
      expect(itemsOf()).toEqual(left === 0 ? [['a', 'b', 'c']] : []);
    }
  });

  it('run beside each other in any number of batches, and one that fails delays and fails no other', async () => {
    const { runs, outcomes, call } = startBatcher(LINGERING);
    for (const item of [...twelve, ...twelve.map((each) => `1${each}`)]) call(item);
    await jest.advanceTimersByTimeAsync(25);
    expect(runs.map(({ items }) => items.length)).toEqual([10, 10, 4]);
    await runs[0]!.fail(new Error('lost'));
    await runs[2]!.succeed();
    expect(outcomes).toMatchObject({ 0: 'lost', 9: 'lost', 111: '111' });
    await runs[1]!.succeed();
    expect(outcomes).toMatchObject({ 10: '10', 17: '17' });
  });

  it('run in at most so many batches at once; the others wait for one of these to end, and not longer', async () => {
    const { runs, call, itemsOf } = startBatcher({ ...LINGERING, maxRunning: 1 });
    for (const item of twelve) call(item);
    await jest.advanceTimersByTimeAsync(1000);
    expect(itemsOf()).toEqual([twelve.slice(0, 10)]);
    await runs[0]!.fail(new Error('lost'));
    expect(itemsOf().slice(1)).toEqual([twelve.slice(10)]);
    call('late');
    await runs[1]!.succeed();
    expect(itemsOf()).toHaveLength(2); // it may still wait for others
    await jest.advanceTimersByTimeAsync(25);
    expect(itemsOf().slice(2)).toEqual([['late']]);
  });

  it('are refused when so many wait already, and wait as long as they must', async () => {
    const { runs, outcomes, call } = startBatcher({
      ...LINGERING,
      maxItems: 2,
      maxRunning: 1,
      maxWaiting: 2,
    });
    for (const item of ['a', 'b', 'c', 'd', 'one too many']) call(item);
    await jest.advanceTimersByTimeAsync(60_000);
    expect(outcomes).toEqual({ 'one too many': REFUSED });
    for (const n of [0, 1]) await runs[n]!.succeed();
    expect(outcomes).toMatchObject({ c: 'c', d: 'd' });
  });
});

describe('a drain', () => {
  it('runs the calls that wait at once, and resolves when every call has ended, those of a failed batch too', async () => {
    const { batcher, runs, outcomes, call, itemsOf } = startBatcher({
      ...LINGERING,
      maxRunning: 1,
      canRunAlone: () => true,
    });
    let isDrained = false;
    for (const item of twelve.slice(0, 11)) call(item);
    void batcher.drain().then(() => (isDrained = true));
    await runs[0]!.succeed();
    expect(itemsOf()).toEqual([twelve.slice(0, 10), ['10']]);
    call('a');
    call('b');
    await jest.advanceTimersByTimeAsync(25);
    await runs[1]!.succeed();
    expect(itemsOf().slice(2)).toEqual([['a', 'b']]);
    await runs[2]!.fail(new Error('refused'));
    expect(itemsOf().slice(3)).toEqual([['a'], ['b']]);
    await runs[4]!.succeed();
    expect(isDrained).toBe(false);
    await runs[3]!.succeed();
    expect(isDrained).toBe(true);
    expect(outcomes).toMatchObject({ 10: '10', a: 'a', b: 'b' });
  });

  it('waits for calls that came meanwhile, unless they are refused', async () => {
    const { batcher, runs, outcomes, call } = startBatcher(LINGERING);
    let drains = 0;
    const drain = () => void batcher.drain().then(() => (drains += 1));
    call('a');
    drain();
    await runs[0]!.succeed();
    expect(drains).toBe(1);
    call('b');
    drain();
    call('late');
    await runs[1]!.succeed();
    expect(drains).toBe(1);
    batcher.refuseAll();
    await jest.advanceTimersByTimeAsync(0);
    expect(drains).toBe(2);
    expect(outcomes).toEqual({ a: 'a', b: 'b', late: REFUSED });
  });

  it('resolves at once when nothing is under way', async () => {
    const { batcher, runs } = startBatcher(LINGERING);
    await batcher.drain();
    expect(runs).toEqual([]);
  });
});
