import { describe, expect, it } from '@jest/globals';
import { type Reading, trendsOf } from '../src/soak/read-measures.ts';

const MINUTES = 60_000;

/** A value for each 3 s of a minute and a half; `noise` is what it may vary. */
function readings(valueAt: (n: number) => number, { everyMs = 3000, noise = 100 } = {}): Reading[] {
  return Array.from({ length: 30 }, (_, n) => ({
    atMs: 5 * MINUTES + n * everyMs,
    measures: new Map([['memory', { value: valueAt(n), noise }]]),
  }));
}

const grows = (of: readonly Reading[]): boolean => {
  const [trend] = trendsOf(of);
  return trend!.growth > trend!.allowed;
};

describe('the trend of a measure', () => {
  it('is flat for what varies within its noise, in whatever order, and for what becomes less', () => {
    expect(grows(readings((n) => 1000 + 90 * (n % 2)))).toBe(false);
    expect(grows(readings((n) => 1000 + 90 * ((n * 7) % 5)))).toBe(false);
    expect(grows(readings((n) => 10_000 - 50 * n))).toBe(false);
  });

  it('is flat for a saw tooth, and for a few outliers of any size, which a mean would follow', () => {
    expect(grows(readings((n) => 1000 + 10 * (n % 10)))).toBe(false);
    expect(grows(readings((n) => (n > 24 ? 1_000_000 : 1000)))).toBe(false);
  });

  it('grows with a leak of more than the noise in the whole time, also below a saw tooth', () => {
    expect(grows(readings((n) => 1000 + 4 * n))).toBe(true);
    expect(grows(readings((n) => 1000 + 3 * n))).toBe(false);
    expect(grows(readings((n) => 1000 + 5 * n + 10 * (n % 10)))).toBe(true);
  });

  it('may grow by two in a hundred of its start for each hour, and counts the time itself', () => {
    const everyMs = 600_000; // 29 steps: 4.8 hours
    expect(grows(readings((n) => 10_000 + 36 * n, { everyMs, noise: 100 }))).toBe(false);
    expect(grows(readings((n) => 10_000 + 38 * n, { everyMs, noise: 100 }))).toBe(true);
  });

  it('has the start and the end without their outliers', () => {
    const [trend] = trendsOf(readings((n) => (n === 0 || n === 29 ? 0 : 1000 + n)));
    expect([trend!.start, trend!.end]).toEqual([1002, 1026]);
  });
});
