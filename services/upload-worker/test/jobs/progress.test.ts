import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Progress } from '../../src/jobs/progress.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

function setUp(answers: (boolean | Error)[] = []) {
  const writes: [number, string | null][] = [];
  const calls = { ignored: 0, errors: 0 };
  let hold: Promise<void> = Promise.resolve();
  const progress = new Progress({
    write: async (percent, message) => {
      writes.push([percent, message]);
      await hold;
      const answer = answers.shift() ?? true;
      if (typeof answer === 'object') throw answer;
      return answer;
    },
    onIgnored: () => void (calls.ignored += 1),
    onError: () => void (calls.errors += 1),
  });
  /** Writes hang from now on, until the returned promise is resolved. */
  const hang = () => {
    const gate = Promise.withResolvers<void>();
    hold = gate.promise;
    return gate;
  };
  return { progress, writes, calls, hang };
}

describe('progress', () => {
  it('is written at most once a second, always the latest report', async () => {
    const { progress, writes } = setUp();
    for (let n = 0; n < 350; n++) {
      progress.report(n / 10, `step ${n}`);
      await jest.advanceTimersByTimeAsync(10);
    }
    expect(writes.map(([percent]) => percent)).toEqual([0, 9.9, 19.9, 29.9]);
    progress.end();
    await progress.flush();
    expect(writes.slice(4)).toEqual([[34.9, 'step 349']]);
  });

  it('is written at once when the last write is a second ago, and is not written again without a new report', async () => {
    const { progress, writes } = setUp();
    progress.report(1);
    await jest.advanceTimersByTimeAsync(60_000);
    progress.report(2);
    expect(writes).toEqual([
      [1, null],
      [2, null],
    ]);
    await jest.advanceTimersByTimeAsync(60_000);
    await progress.flush();
    expect(writes).toHaveLength(2);
  });

  it('never decreases, and keeps its message until there is another one', async () => {
    const { progress, writes } = setUp();
    progress.report(50, 'half');
    await jest.advanceTimersByTimeAsync(1000);
    for (const percent of [20, Number.NaN, -5]) progress.report(percent);
    await jest.advanceTimersByTimeAsync(1000);
    progress.report(10, 'again');
    await jest.advanceTimersByTimeAsync(1000);
    expect(writes).toEqual([
      [50, 'half'],
      [50, 'again'],
    ]);
  });

  it('is written by one statement at a time', async () => {
    const { progress, writes, hang } = setUp();
    const gate = hang();
    progress.report(1);
    await jest.advanceTimersByTimeAsync(5000);
    progress.report(2);
    await jest.advanceTimersByTimeAsync(5000);
    expect(writes).toHaveLength(1);
    progress.end();
    const flushed = progress.flush();
    await jest.advanceTimersByTimeAsync(0);
    expect(writes).toHaveLength(1);
    gate.resolve();
    await flushed;
    expect(writes.at(-1)).toEqual([2, null]);
  });

  it('whose write failed is written again a second later, and before the settlement', async () => {
    const { progress, writes, calls } = setUp([new Error('away'), new Error('away'), new Error('away')]);
    progress.report(1);
    await jest.advanceTimersByTimeAsync(1500);
    expect([writes.length, calls.errors]).toEqual([2, 2]);
    progress.end();
    await expect(progress.flush()).rejects.toThrow('away');
    await progress.flush();
    expect(writes.at(-1)).toEqual([1, null]);
    await progress.flush();
    expect(writes).toHaveLength(4);
  });

  it('is ignored after the attempt has ended, and this is reported once', async () => {
    const { progress, writes, calls } = setUp();
    progress.report(1);
    progress.end();
    for (let n = 2; n < 1000; n++) progress.report(n);
    await jest.advanceTimersByTimeAsync(5000);
    await progress.flush();
    expect(writes).toEqual([[1, null]]);
    expect(calls).toEqual({ ignored: 1, errors: 0 });
  });

  it('is ignored when Postgres refuses it, and this is reported', async () => {
    const { progress, calls } = setUp([false]);
    progress.report(1);
    await jest.advanceTimersByTimeAsync(0);
    expect(calls).toEqual({ ignored: 1, errors: 0 });
  });
});
