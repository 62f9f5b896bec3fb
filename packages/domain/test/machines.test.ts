import { describe, expect, it } from '@jest/globals';
import {
  assertTransition,
  canTransition,
  InvalidTransitionError,
  isState,
  isTerminal,
  machines,
  statesOf,
  transitionsOf,
  type Machine,
} from '../src/index.ts';

/** The owner's rules P2, D2, J1 and T1, written out once more and by hand: the tables must say exactly this. */
const rules: Record<string, { states: string[]; allowed: string[]; terminal: string[] }> = {
  paste_upload: {
    states: ['IN_PROGRESS', 'PROCESSED', 'FAILED'],
    allowed: ['IN_PROGRESS PROCESSED', 'IN_PROGRESS FAILED'],
    terminal: ['PROCESSED', 'FAILED'],
  },
  paste_deletion: {
    states: ['NOT_EXPIRED', 'DELETION_IN_PROGRESS', 'DELETED'],
    allowed: [
      'NOT_EXPIRED DELETION_IN_PROGRESS',
      'DELETION_IN_PROGRESS DELETED',
      'DELETION_IN_PROGRESS NOT_EXPIRED',
    ],
    terminal: ['DELETED'],
  },
  job: {
    states: ['queued', 'processing', 'completed', 'partial', 'failed'],
    allowed: ['queued processing', 'processing completed', 'processing partial', 'processing failed'],
    terminal: ['completed', 'partial', 'failed'],
  },
  task_execution: {
    states: ['PENDING', 'RUNNING', 'SUCCEEDED', 'FAILED'],
    allowed: ['PENDING RUNNING', 'RUNNING SUCCEEDED', 'RUNNING FAILED'],
    terminal: ['SUCCEEDED', 'FAILED'],
  },
};

it('has a rule for every machine', () => {
  expect(machines.map(({ name }) => name)).toEqual(Object.keys(rules));
});

describe.each(machines as readonly Machine[])('$name', (machine) => {
  const rule = rules[machine.name]!;
  const pairs = rule.states.flatMap((from) => rule.states.map((to) => [from, to] as const));

  it('has exactly the states of the rule, and begins in the first', () => {
    expect(statesOf(machine)).toEqual(rule.states);
    expect(machine.initial).toBe(rule.states[0]);
  });

  it.each(pairs)('decides %s → %s', (from, to) => {
    const allowed = rule.allowed.includes(`${from} ${to}`);
    expect(canTransition(machine, from, to)).toBe(allowed);
    const assertion = () => assertTransition(machine, from, to);
    if (allowed) expect(assertion).not.toThrow();
    else expect(assertion).toThrow(`Cannot transition from '${from}' to '${to}'`);
  });

  it('is terminal where nothing leads out', () => {
    expect(rule.states.filter((state) => isTerminal(machine, state))).toEqual(rule.terminal);
  });

  it('lists its transitions', () => {
    expect(
      transitionsOf(machine)
        .map((pair) => pair.join(' '))
        .toSorted(),
    ).toEqual(rule.allowed.toSorted());
  });

  it('knows its states from other words', () => {
    expect(rule.states.every((state) => isState(machine, state))).toBe(true);
    for (const word of ['', 'toString', 'NOWHERE', null, 7]) expect(isState(machine, word)).toBe(false);
  });
});

it('refuses a transition with a typed error that names machine and states', () => {
  const job = machines.find(({ name }) => name === 'job') as unknown as Machine;
  expect(() => assertTransition(job, 'completed', 'processing')).toThrow(
    new InvalidTransitionError({ machine: 'job', from: 'completed', to: 'processing' }),
  );
  try {
    assertTransition(job, 'completed', 'processing');
  } catch (error) {
    expect(error).toMatchObject({
      code: 'invalid_transition',
      machine: 'job',
      from: 'completed',
      to: 'processing',
    });
  }
});
