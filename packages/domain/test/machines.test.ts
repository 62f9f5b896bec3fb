import { describe, expect, it } from '@jest/globals';
import {
  assertTransition,
  canTransition,
  InvalidTransitionError,
  isState,
  isTerminal,
  job,
  machines,
  openStatesOf,
  pasteUpload,
  statesOf,
  transition,
  transitionsOf,
  type Machine,
  type StateOf,
} from '../src/index.ts';

/**
 * The rules, written by hand a second time: for each state, the states that may follow. The first state is
 * the initial one.
 */
const rules: {
  readonly [M in (typeof machines)[number] as M['name']]: Readonly<Record<StateOf<M>, readonly StateOf<M>[]>>;
} = {
  paste_upload: { IN_PROGRESS: ['PROCESSED', 'FAILED'], PROCESSED: [], FAILED: [] },
  paste_deletion: {
    NOT_EXPIRED: ['DELETION_IN_PROGRESS'],
    DELETION_IN_PROGRESS: ['DELETED', 'NOT_EXPIRED'],
    DELETED: [],
  },
  job: {
    queued: ['processing'],
    processing: ['completed', 'partial', 'failed'],
    completed: [],
    partial: [],
    failed: [],
  },
  task_execution: { PENDING: ['RUNNING'], RUNNING: ['SUCCEEDED', 'FAILED'], SUCCEEDED: [], FAILED: [] },
  paste_report: { open: ['upheld', 'rejected'], upheld: [], rejected: [] },
  erasure: { requested: ['at_work'], at_work: ['done'], done: [] },
  secret_request: { OPEN: ['USED_UP', 'CANCELLED'], USED_UP: [], CANCELLED: [] },
  webhook_delivery: { WAITING: ['DELIVERED', 'FAILED'], DELIVERED: [], FAILED: [] },
};

it('has a rule for every machine', () => {
  expect(machines.map(({ name }) => name)).toEqual(Object.keys(rules));
});

describe.each(machines)('$name', ({ name, ...rest }) => {
  const machine: Machine = { name, ...rest };
  const rule: Readonly<Record<string, readonly string[]>> = rules[name];
  const states = Object.keys(rule);
  const pairs = states.flatMap((from) => states.map((to) => [from, to] as const));

  it('has exactly the states of the rule, and starts in the first', () => {
    expect(statesOf(machine)).toEqual(states);
    expect(machine.initial).toBe(states[0]);
  });

  it.each(pairs)('decides %s → %s', (from, to) => {
    const allowed = rule[from]!.includes(to);
    expect(canTransition(machine, from, to)).toBe(allowed);
    const assertion = () => assertTransition(machine, from, to);
    if (allowed) expect(assertion).not.toThrow();
    else expect(assertion).toThrow(`Cannot transition from '${from}' to '${to}'`);
  });

  it('is terminal where no transition leads out', () => {
    const terminal = states.filter((state) => rule[state]!.length === 0);
    expect(states.filter((state) => isTerminal(machine, state))).toEqual(terminal);
    expect(openStatesOf(machine)).toEqual(states.filter((state) => !terminal.includes(state)));
  });

  it('lists its transitions', () => {
    const allowed = pairs.filter(([from, to]) => rule[from]!.includes(to));
    const inOrder = (list: readonly (readonly [string, string])[]) =>
      list.map((pair) => pair.join(' ')).toSorted();
    expect(inOrder(transitionsOf(machine))).toEqual(inOrder(allowed));
  });

  it('tells its states from other values', () => {
    expect(states.every((state) => isState(machine, state))).toBe(true);
    for (const word of ['', 'toString', 'NOWHERE', null, 7]) expect(isState(machine, word)).toBe(false);
  });
});

it('refuses a transition with a typed error that names machine and states', () => {
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

it('does not compile a table over the states of a machine that misses a state or has another', () => {
  const table = <State extends string>(states: Readonly<Record<State, boolean>>) => Object.keys(states);
  expect(
    // @ts-expect-error partial is missing
    table<StateOf<typeof job>>({ queued: true, processing: true, completed: true, failed: true }),
  ).not.toEqual(statesOf(job));
  // @ts-expect-error a paste has no state STORED
  expect(statesOf(pasteUpload)).not.toContain('STORED' satisfies StateOf<typeof pasteUpload>);
});

it('does not compile a named transition that the table does not allow, and throws when it is evaluated', () => {
  expect(transition(job, 'queued', 'processing')).toEqual({ from: 'queued', to: 'processing' });
  // @ts-expect-error completed is terminal
  expect(() => transition(job, 'completed', 'processing')).toThrow(InvalidTransitionError);
  // @ts-expect-error queued leads to processing only
  expect(() => transition(job, 'queued', 'completed')).toThrow(InvalidTransitionError);
});
