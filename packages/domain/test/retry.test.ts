import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  decideNextStep,
  defaultRetryPolicy,
  lossDelayMs,
  MAX_JOB_LOSSES,
  maxAttempts,
  retryDelayMs,
} from '../src/index.ts';

const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

describe('the default policy', () => {
  it('makes six attempts, waiting 1, 2, 4, 8 and 16 s between them', () => {
    expect(maxAttempts(defaultRetryPolicy)).toBe(6);
    expect([1, 2, 3, 4, 5].map((attempt) => retryDelayMs(defaultRetryPolicy, attempt, 0.5))).toEqual([
      1000, 2000, 4000, 8000, 16_000,
    ]);
    expect(retryDelayMs(defaultRetryPolicy, 6, 0.5)).toBeNull();
  });

  it('keeps each wait within 200 ms of its base, and reaches both ends', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), random, (attempt, dice) => {
        const base = 1000 * 2 ** (attempt - 1);
        return Math.abs((retryDelayMs(defaultRetryPolicy, attempt, dice) as number) - base) <= 200;
      }),
    );
    expect(retryDelayMs(defaultRetryPolicy, 1, 0)).toBe(800);
    expect(retryDelayMs(defaultRetryPolicy, 1, 1 - Number.EPSILON)).toBe(1200);
  });

  it('spreads the jitter evenly: each tenth of the range gets a tenth of the waits', () => {
    const counts = Array.from({ length: 10 }, () => 0);
    for (let n = 0; n < 10_000; n++) {
      const wait = retryDelayMs(defaultRetryPolicy, 3, (n + 0.5) / 10_000) as number;
      counts[Math.min(9, Math.floor((wait - 3800) / 40))]! += 1;
    }
    for (const count of counts) expect(Math.abs(count - 1000)).toBeLessThanOrEqual(15);
  });

  it('never waits a negative time, for any jitter', () => {
    fc.assert(
      fc.property(
        random,
        (dice) => (retryDelayMs({ delaysMs: [100], jitterMs: 5000 }, 1, dice) as number) >= 0,
      ),
    );
  });
});

describe('the next step after an attempt', () => {
  const nextStep = (
    outcome: Parameters<typeof decideNextStep>[0],
    attempt: number,
    losses = 0,
    policy = defaultRetryPolicy,
  ) => decideNextStep(outcome, { attempt, losses }, policy, 0.5);

  it('is nothing after a success', () => {
    expect(nextStep({ kind: 'succeeded' }, 6)).toEqual({ kind: 'done' });
  });

  it('is another attempt after its wait when the work failed', () => {
    expect(nextStep({ kind: 'failed', error: 'x' }, 2)).toEqual({ kind: 'retry', attempt: 3, delayMs: 2000 });
  });

  it('is the same attempt after a loss, however often the work was lost, with a longer wait each time', () => {
    const lost = { kind: 'lost', error: 'x' } as const;
    const waits = [0, 1, 2, 3, 4, 5, 6, 7, 100, 5000].map((losses) => nextStep(lost, 6, losses));
    expect(waits).toEqual(
      [1, 2, 4, 8, 16, 32, 60, 60, 60, 60].map((s) => ({ kind: 'retry', attempt: 6, delayMs: s * 1000 })),
    );
    expect(lossDelayMs(1)).toBe(1000);
  });

  it('is the end after the sixth loss when the policy has that limit', () => {
    const jobs = { ...defaultRetryPolicy, maxLosses: MAX_JOB_LOSSES };
    const lost = { kind: 'lost', error: 'worker lost: upload-worker/host-17-4711' } as const;
    expect(nextStep(lost, 1, 4, jobs)).toEqual({ kind: 'retry', attempt: 1, delayMs: 16_000 });
    expect(nextStep(lost, 1, 5, jobs)).toEqual({
      kind: 'give_up',
      reason: 'lost too often: lost 6 times; the last: worker lost',
    });
  });

  it('is the end, with the last reason, after the sixth failure', () => {
    const end = { kind: 'give_up', reason: 'internal: 6 attempts failed; the last: x' };
    expect(nextStep({ kind: 'failed', error: 'x' }, 6)).toEqual(end);
    expect(nextStep({ kind: 'failed', error: 'storage unavailable: S3 answered 503' }, 6)).toEqual({
      kind: 'give_up',
      reason: 'storage unavailable: 6 attempts failed; the last: S3 answered 503',
    });
  });

  it('is the end after a failure that is final', () => {
    expect(nextStep({ kind: 'failed', error: 'x', isFinal: true }, 1)).toEqual({
      kind: 'give_up',
      reason: 'x',
    });
  });

  it('is the same attempt a second later when it was postponed', () => {
    expect(nextStep({ kind: 'postponed', error: 'x' }, 6)).toEqual({
      kind: 'retry',
      attempt: 6,
      delayMs: 1000,
    });
  });

  it('is the same attempt at once after an interruption, any number of times', () => {
    expect(nextStep({ kind: 'interrupted' }, 6)).toEqual({ kind: 'retry', attempt: 6, delayMs: 0 });
  });

  it('is the same attempt after the delay that a job has yielded for, any number of times', () => {
    const yielded = { kind: 'yielded', delayMs: 5000 } as const;
    expect(nextStep(yielded, 6)).toEqual({ kind: 'retry', attempt: 6, delayMs: 5000 });
  });

  it('is the end after the tenth interruption in which the work made nothing, where those are counted', () => {
    const stopped = (stops: number) => nextStep({ kind: 'interrupted', stops }, 1);
    expect(stopped(9)).toEqual({ kind: 'retry', attempt: 1, delayMs: 0 });
    expect(stopped(10)).toEqual({
      kind: 'give_up',
      reason: 'interrupted: its workers were stopped 10 times before they could make anything more',
    });
  });
});
