import type { IncomingMessage } from 'node:http';
import { expect, it } from '@jest/globals';
import { preferredWait } from '../src/live/read-waiting.ts';

it.each<[string | undefined, number | null]>([
  [undefined, null],
  ['', null],
  ['wait=10', 10],
  ['WAIT = 10', 10],
  ['wait="10"', 10],
  ['wait=0', 0],
  ['wait=60', 60],
  ['wait=61', 60],
  ['wait=999999999', 60],
  ['respond-async, wait=100', 60],
  ['respond-async; wait=5', null], // a parameter of another preference
  ['wait=5; x=y', 5],
  ['wait=5, wait=7', 5], // the first counts
  ['wait', null],
  ['wait=', null],
  ['wait=soon', null],
  ['wait=-1', null],
  ['wait=1.5', null],
  ['wait=1e1', null],
  ['wait=99999999999999999999', null],
  ['waiting=5', null],
  ['x="wait=5"', null],
])('Prefer: %s asks for a wait of %s s', (prefer, seconds) => {
  const headers = prefer === undefined ? {} : { prefer };
  expect(preferredWait({ headers } as IncomingMessage)).toBe(seconds);
});
