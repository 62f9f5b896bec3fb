import { describe, expect, it } from '@jest/globals';
import { decideNextStep } from '@pasteflow/domain';
import type { DeliveryRules } from '../src/index.ts';
import { exploreDeliveries } from './explore-deliveries.ts';

const SMALL = { workers: 2, faults: 2, again: 1 };

it('keeps every invariant in each state of a delivery to which two faults can lead', () => {
  const { states, counterexample } = exploreDeliveries(SMALL);
  expect(counterexample).toBeNull();
  expect(states).toBeGreaterThan(1000);
});

describe('breaks an invariant', () => {
  const mutants: readonly (readonly [name: string, mutant: Partial<DeliveryRules>, violation: RegExp])[] = [
    ['without a fence', { settles: () => true }, /./],
    ['when the reaper ends work that has a lease', { reaps: ({ status }) => status === 'RUNNING' }, /lease/],
    ['without a reaper', { reaps: () => false }, /stuck/],
    [
      'when an event is recorded by a statement of its own, whose process is killed',
      { records: false },
      /was not told/,
    ],
    [
      'when an event that happens again is recorded again',
      { recordsAgain: true },
      /from DELIVERED to WAITING/,
    ],
    ['when a worker does not look at the endpoint', { sends: () => true }, /was off/],
    [
      'when each attempt counts as the first',
      { nextStep: (outcome, count, ...rest) => decideNextStep(outcome, { ...count, attempt: 1 }, ...rest) },
      /after 2 refusals/,
    ],
    [
      'when a loss spends an attempt',
      {
        nextStep: (outcome, ...rest) =>
          decideNextStep(outcome.kind === 'lost' ? { kind: 'failed', error: '' } : outcome, ...rest),
      },
      /losses/,
    ],
  ];

  it.each(mutants)('%s', (_name, mutant, violation) => {
    const { counterexample } = exploreDeliveries(SMALL, mutant);
    expect(counterexample?.at(-1)).toMatch(violation);
  });
});
