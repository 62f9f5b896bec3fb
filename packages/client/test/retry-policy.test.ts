import { describe, expect, it } from '@jest/globals';
import { DEFAULT_RETRY, PasteflowApiError, PasteflowConnectionError } from '../src/index.ts';
import { delayBeforeRetry } from '../src/retry-policy.ts';

const lost = new PasteflowConnectionError('lost');
const at = (tries: number, random: number, elapsedMs = 0) => ({
  policy: DEFAULT_RETRY,
  tries,
  elapsedMs,
  random,
});

function refused(
  status: number,
  retryAfter: number | null,
  code: PasteflowApiError['code'] = null,
): PasteflowApiError {
  return new PasteflowApiError({ status, code, detail: '', errors: [], requestId: null, retryAfter });
}

describe('the wait before a retry', () => {
  it('doubles from 0.25 s, and is none after the eighth try', () => {
    const delays = [1, 2, 3, 4, 5, 6, 7, 8].map((tries) => delayBeforeRetry(lost, at(tries, 0)));
    expect(delays).toEqual([250, 500, 1000, 2000, 4000, 8000, 8000, null]);
  });

  it('stays at its longest, less up to a half', () => {
    const policy = { ...DEFAULT_RETRY, maxTries: 100 };
    for (const tries of [6, 7, 50, 99]) {
      expect(delayBeforeRetry(lost, { policy, tries, elapsedMs: 0, random: 0 })).toBe(8000);
      expect(delayBeforeRetry(lost, { policy, tries, elapsedMs: 0, random: 1 })).toBe(4000);
    }
  });

  it('is what Retry-After says, and never less', () => {
    expect(delayBeforeRetry(refused(503, 7), at(1, 0))).toBe(7000);
    expect(delayBeforeRetry(refused(503, 7), at(1, 1))).toBe(7250);
  });

  it('still doubles where Retry-After says less each time: an api without its Postgres says 1 s', () => {
    const delays = [1, 3, 5, 7].map((tries) => delayBeforeRetry(refused(503, 1), at(tries, 0)));
    expect(delays).toEqual([1000, 1000, 4000, 8000]);
  });

  it('goes on while an earlier try holds the key, until the time for all tries is up', () => {
    const held = refused(409, 1, 'idempotency_key_in_use');
    expect(delayBeforeRetry(held, at(8, 0))).toBe(8000);
    expect(delayBeforeRetry(held, at(20, 0, 100_000))).toBe(8000);
    expect(delayBeforeRetry(held, at(20, 0, 112_000))).toBeNull();
  });

  it('is none when it would end after the time for all tries', () => {
    expect(delayBeforeRetry(refused(429, 100), at(1, 0, 19_999))).toBe(100_000);
    expect(delayBeforeRetry(refused(429, 100), at(1, 0, 20_000))).toBeNull();
  });

  it('is none for a defect of the server, and for what is none of its errors', () => {
    expect(delayBeforeRetry(refused(500, null), at(1, 0))).toBeNull();
    expect(delayBeforeRetry(new TypeError('a bug'), at(1, 0))).toBeNull();
  });
});
