import { expect, it } from '@jest/globals';
import { patienceSeconds } from '../src/idempotency/once.ts';

it.each([
  [15, 1],
  [14.2, 1],
  [12, 3],
  [7.5, 8],
  [4, 4],
  [0.2, 1],
])('with %d s until its claim lapses, a key is to be tried again after %d s', (left, seconds) => {
  expect(patienceSeconds(left)).toBe(seconds);
});
