import { choices, deletionFaults, deletionProgress } from './deletions.ts';
import type { Effect, Rules, State } from './state.ts';
import { uploadFaults, uploadProgress } from './uploads.ts';

const progress = { ...uploadProgress, ...deletionProgress };
const faults = { ...uploadFaults, ...deletionFaults };
const effects = { ...progress, ...choices, ...faults };

export type ActionName = keyof typeof effects;

export interface Action {
  readonly name: ActionName;
  /** The number of the worker or the cleanup; 0 for everything else. */
  readonly by: number;
}

/** An action, and the state to which it leads. */
export interface Step {
  readonly action: Action;
  readonly state: State;
}

const namesOf = (table: Readonly<Record<string, Effect>>) => Object.keys(table) as ActionName[];
const progressNames = namesOf(progress);
export const actionNames = namesOf(effects);

/**
 * `progress`: what the services and time do while nothing fails. `choice`: what a user, an operator or a
 * sweep of days may do. `fault`: what fails.
 */
export function kindOf(name: ActionName): 'progress' | 'choice' | 'fault' {
  if (name in progress) return 'progress';
  return name in choices ? 'choice' : 'fault';
}

/** @returns null when the action can't happen */
export function perform(state: State, { name, by }: Action, rules: Rules): State | null {
  const isFault = name in faults;
  if (isFault && state.faults === 0) return null;
  const next = effects[name](state, by, rules);
  return next !== null && isFault ? { ...next, faults: next.faults - 1 } : next;
}

/** Everything that can happen next. */
export function stepsFrom(state: State, rules: Rules): readonly Step[] {
  return actionNames.flatMap((name) => stepsOf(name, state, rules));
}

/** What happens next when nothing fails; null: nothing more. */
export function nextInCalm(state: State, rules: Rules): Step | null {
  for (const name of progressNames) {
    const step = firstStep(name, state, rules);
    if (step !== null) return step;
  }
  return null;
}

/** The action of the first worker or cleanup that can do it; null: it can't happen. */
export function firstStep(name: ActionName, state: State, rules: Rules): Step | null {
  return stepsOf(name, state, rules)[0] ?? null;
}

function stepsOf(name: ActionName, state: State, rules: Rules): readonly Step[] {
  const steps: Step[] = [];
  for (let by = 0; by < Math.max(state.workers.length, state.cleanups.length); by += 1) {
    const action = { name, by };
    const next = perform(state, action, rules);
    if (next !== null) steps.push({ action, state: next });
  }
  return steps;
}
