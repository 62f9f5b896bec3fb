import { describe, expect, it } from '@jest/globals';
import { decideNextStep } from '@pasteflow/domain';
import { actionNames, rules, type Rules } from '../src/index.ts';
import { exploreAll, exploreTraces } from './explore.ts';

const SMALL = { workers: 2, faults: 2, retries: 1 };

it('keeps every invariant in each state to which two faults can lead', () => {
  const { states, counterexample } = exploreAll(SMALL, rules);
  expect(counterexample).toBeNull();
  expect(states).toBeGreaterThan(10_000);
});

it('keeps every invariant in traces with many faults, which do all that can be done', () => {
  const actions = exploreTraces(1500);
  expect([...actions].sort()).toEqual([...actionNames].sort());
});

describe('breaks an invariant', () => {
  const mutants: readonly (readonly [name: string, mutant: Partial<Rules>])[] = [
    ['without a fence', { settles: () => true }],
    ['when the reaper ends work that has a lease', { reaps: ({ status }) => status === 'RUNNING' }],
    ['without a reaper', { reaps: () => false }],
    [
      'when a claim deletes the payload',
      { deletesPayload: (at) => at === 'claim' || rules.deletesPayload(at) },
    ],
    [
      'when a failed attempt deletes the payload',
      { deletesPayload: (at) => at === 'retry' || rules.deletesPayload(at) },
    ],
    [
      'when a failed paste can be retried while its object is deleted',
      { deletesPayload: (at) => at !== 'failed sweep' && rules.deletesPayload(at) },
    ],
    [
      'when a loss spends an attempt',
      { nextStep: (_, ...rest) => decideNextStep({ kind: 'failed', error: '' }, ...rest) },
    ],
    [
      'when each attempt counts as the first',
      { nextStep: (outcome, count, ...rest) => decideNextStep(outcome, { ...count, attempt: 1 }, ...rest) },
    ],
    ['when nobody sends the message of a sender that crashed', { isUnsent: () => false }],
    ['when nobody sends a lost message again', { isOverdue: () => false }],
    [
      'when a message is acknowledged as soon as it is received, and nobody sends it again',
      { acknowledgesFirst: true, isOverdue: () => false },
    ],
    [
      'when a cleanup claims a paste during the upload',
      { cleansUp: ({ deletion, deletionRequested }) => deletion === 'NOT_EXPIRED' && deletionRequested },
    ],
    [
      'when reconcile deletes the object of a paste that can be retried',
      { isLive: (state) => state.paste?.status !== 'FAILED' && rules.isLive(state) },
    ],
  ];

  it.each(mutants)('%s', (_name, mutant) => {
    expect(exploreAll(SMALL, { ...rules, ...mutant }).counterexample).not.toBeNull();
  });
});
