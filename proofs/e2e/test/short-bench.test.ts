import { expect, it } from '@jest/globals';
import { compare } from '../src/bench/short-bench.ts';

const committed = { createByHand: 0.5, readByExpress: 10, walBytes: 5000 };
const isGood = (grown: Partial<typeof committed>, others = 0.05): boolean =>
  compare({ medians: { ...committed, ...grown }, others }, committed).isGood;

it.each([{ createByHand: 0.5 * 1.16 }, { readByExpress: 10 * 1.16 }, { walBytes: 5000 * 1.16 }])(
  'fails when a figure is 15 %% above the baseline: %j',
  (grown) => {
    expect(isGood(grown)).toBe(false);
  },
);

it('passes what is 14 % above the baseline, and prints each figure beside its baseline', () => {
  const medians = { createByHand: 0.57, readByExpress: 11.4, walBytes: 5700 };
  expect(isGood(medians)).toBe(true);
  const { lines } = compare({ medians, others: 0.05 }, committed);
  expect(lines).toEqual([
    'CPU time of a create, divided by that of the same by hand: 0.57, in the baseline 0.50: +14%',
    'CPU time of a read, divided by that of bare Express: 11.40, in the baseline 10.00: +14%',
    'bytes of WAL of a create: 5700.00, in the baseline 5000.00: +14%',
  ]);
});

it('judges only the WAL on a machine that other programs keep busy', () => {
  expect(isGood({ createByHand: 1, readByExpress: 20 }, 0.5)).toBe(true);
  expect(isGood({ walBytes: 5000 * 1.16 }, 0.5)).toBe(false);
});
