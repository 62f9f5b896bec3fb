import fc from 'fast-check';
import {
  actionNames,
  firstStep,
  initialState,
  keyOf,
  kindOf,
  nextInCalm,
  rules,
  stepsFrom,
  violationsAtRest,
  violationsInCalm,
  violationsOf,
  type ActionName,
  type Bounds,
  type Rules,
  type Step,
} from '../src/index.ts';

export interface Explored {
  readonly states: number;
  readonly steps: number;
  /** The actions that lead to the first violation, and the violation; null: there is none. */
  readonly counterexample: readonly string[] | null;
}

/** A model with its rules. */
export interface Model<State, Step extends { readonly state: State }> {
  readonly first: State;
  keyOf(state: State): string;
  stepsFrom(state: State): readonly Step[];
  nextInCalm(state: State): Step | null;
  violationsOf(before: State, step: Step): readonly string[];
  violationsAtRest(state: State): readonly string[];
  describe(step: Step): string;
}

interface Visited<State> {
  readonly state: State;
  readonly action: string;
  readonly from: Visited<State> | null;
  /** The key of the state that follows when nothing fails; null: none follows. */
  readonly calm: string | null;
}

/** Visits each state of an upload that can be reached. */
export function exploreAll(bounds: Bounds, rules: Rules): Explored {
  return explore({
    first: initialState(bounds),
    keyOf,
    stepsFrom: (state) => stepsFrom(state, rules),
    nextInCalm: (state) => nextInCalm(state, rules),
    violationsOf: (before, step) => violationsOf(before, step, rules),
    violationsAtRest,
    describe,
  });
}

/** Visits each state that can be reached, breadth first, so that a counterexample is as short as possible. */
export function explore<State, Step extends { readonly state: State }>(model: Model<State, Step>): Explored {
  const visited = new Map<string, Visited<State>>();
  let steps = 0;
  const visit = (state: State, action: string, from: Visited<State> | null): Visited<State> | null => {
    const key = model.keyOf(state);
    if (visited.has(key)) return null;
    const next = model.nextInCalm(state);
    const made = { state, action, from, calm: next && model.keyOf(next.state) };
    visited.set(key, made);
    return made;
  };
  const ended = (last: Visited<State> | null, violations: readonly string[]): Explored => {
    const path: string[] = [...violations];
    for (let at = last; at !== null; at = at.from) path.unshift(at.action);
    return { states: visited.size, steps, counterexample: violations.length > 0 ? path : null };
  };

  const queue = [visit(model.first, 'created', null) as Visited<State>];
  for (const at of queue) {
    const atRest = at.calm === null ? model.violationsAtRest(at.state) : [];
    if (atRest.length > 0) return ended(at, atRest);
    for (const step of model.stepsFrom(at.state)) {
      steps += 1;
      const violations = model.violationsOf(at.state, step);
      const made = visit(step.state, model.describe(step), at);
      if (violations.length > 0) return ended(made ?? at, violations);
      if (made !== null) queue.push(made);
    }
  }
  const endless = queue.find(({ calm }) => isEndless(calm, visited));
  return ended(endless ?? null, endless ? ['without a fault, the work never ends'] : []);
}

/** Whether the states that follow while nothing fails come to no end. */
function isEndless(first: string | null, visited: ReadonlyMap<string, Visited<unknown>>): boolean {
  const path = new Set<string>();
  for (let key = first; key !== null; key = visited.get(key)?.calm ?? null) {
    if (path.has(key)) return true;
    path.add(key);
  }
  return false;
}

const describe = ({ action: { name, by } }: Step): string => `${name} (${by})`;

const MANY = { workers: 3, faults: 40, retries: 2 };
/** Of the actions that are tried, most can't happen: some 80 of 600 do. */
const TRIES = 600;
/** How often an action of each kind is tried. */
const WEIGHTS = { progress: 12, choice: 1, fault: 4 };

const weighted = actionNames.flatMap((name) => Array.from({ length: WEIGHTS[kindOf(name)] }, () => name));

/**
 * Follows random traces.
 * @returns the actions that happened
 * @throws with a trace that breaks an invariant
 */
export function exploreTraces(count: number, seed = 1): ReadonlySet<ActionName> {
  const happened = new Set<ActionName>();
  const tries = fc.array(fc.constantFrom(...weighted), { minLength: TRIES, maxLength: TRIES });
  fc.assert(
    fc.property(tries, (names) => {
      const broken = followTrace(names, happened);
      if (broken !== null) throw new Error(broken.join('\n'));
    }),
    { numRuns: count, seed },
  );
  return happened;
}

/**
 * Follows one trace, and then lets the services go on without faults.
 * @returns the actions and the violation; null: there is none
 */
function followTrace(names: readonly ActionName[], happened: Set<ActionName>): readonly string[] | null {
  const path: string[] = [];
  let state = initialState(MANY);
  for (const name of names) {
    const step = firstStep(name, state, rules);
    if (step === null) continue;
    path.push(describe(step));
    happened.add(name);
    const violations = violationsOf(state, step, rules);
    if (violations.length > 0) return [...path, ...violations];
    state = step.state;
  }
  const violations = violationsInCalm(state, rules);
  return violations.length > 0 ? [...path, ...violations] : null;
}
