import { describe, expect, it } from '@jest/globals';
import { DEFAULT_RETRY, PasteflowApiError, PasteflowConnectionError } from '../src/index.ts';
import { delayBeforeRetry } from '../src/retries.ts';

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
  it('doubles from 0.25 s, and there is no retry after the eighth try', () => {
    const delays = [1, 2, 3, 4, 5, 6, 7, 8].map((tries) => delayBeforeRetry(lost, at(tries, 0)));
    expect(delays).toEqual([250, 500, 1000, 2000, 4000, 8000, 8000, null]);
  });

  it('stays at the maximum, reduced by up to a half', () => {
    const policy = { ...DEFAULT_RETRY, maxTries: 100 };
    for (const tries of [6, 7, 50, 99]) {
      expect(delayBeforeRetry(lost, { policy, tries, elapsedMs: 0, random: 0 })).toBe(8000);
      expect(delayBeforeRetry(lost, { policy, tries, elapsedMs: 0, random: 1 })).toBe(4000);
    }
  });

  it('is at least Retry-After', () => {
    expect(delayBeforeRetry(refused(503, 7), at(1, 0))).toBe(7000);
    expect(delayBeforeRetry(refused(503, 7), at(1, 1))).toBe(7250);
  });

  it('still doubles when Retry-After is shorter: an api without Postgres always sends 1 s', () => {
    const delays = [1, 3, 5, 7].map((tries) => delayBeforeRetry(refused(503, 1), at(tries, 0)));
    expect(delays).toEqual([1000, 1000, 4000, 8000]);
  });

  it('allows retries while an earlier try holds the key, until the total time is used up', () => {
    const held = refused(409, 1, 'idempotency_key_in_use');
    expect(delayBeforeRetry(held, at(8, 0))).toBe(8000);
    expect(delayBeforeRetry(held, at(20, 0, 100_000))).toBe(8000);
    expect(delayBeforeRetry(held, at(20, 0, 112_000))).toBeNull();
  });

  it('allows no retry that would start after the total time', () => {
    expect(delayBeforeRetry(refused(429, 100), at(1, 0, 19_999))).toBe(100_000);
    expect(delayBeforeRetry(refused(429, 100), at(1, 0, 20_000))).toBeNull();
  });

  it('allows no retry when a quota is used up: nothing comes back with time', () => {
    expect(delayBeforeRetry(refused(429, null, 'quota_exceeded'), at(1, 0))).toBeNull();
    expect(delayBeforeRetry(refused(429, null, 'webhook_limit_reached'), at(1, 0))).toBeNull();
    expect(delayBeforeRetry(refused(507, null, 'storage_full'), at(1, 0))).toBeNull();
    expect(delayBeforeRetry(refused(429, null, 'rate_limited'), at(1, 0))).not.toBeNull();
  });

  it('allows no retry for a defect of the server or an error that is not from it', () => {
    expect(delayBeforeRetry(refused(500, null), at(1, 0))).toBeNull();
    expect(delayBeforeRetry(new TypeError('a bug'), at(1, 0))).toBeNull();
  });
});
