export { violationsAtRest, violationsInCalm, violationsOf } from './invariants.ts';
export {
  actionNames,
  firstStep,
  kindOf,
  nextInCalm,
  stepsFrom,
  type Action,
  type ActionName,
  type Step,
} from './model.ts';
export { rules, type Rules } from './rules.ts';
export { initialState, keyOf, type Bounds, type State } from './state.ts';
export { problemOfTrail, type TrailEntry } from './trail.ts';
