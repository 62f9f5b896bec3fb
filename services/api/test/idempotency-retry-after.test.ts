import { expect, it } from '@jest/globals';
import { retryAfterSeconds } from '../src/idempotency/idempotency.ts';

it.each([
  [15, 1],
  [14.2, 1],
  [12, 3],
  [7.5, 8],
  [4, 4],
  [0.2, 1],
])('with %d s until the claim expires, Retry-After is %d s', (left, seconds) => {
  expect(retryAfterSeconds(left)).toBe(seconds);
});
