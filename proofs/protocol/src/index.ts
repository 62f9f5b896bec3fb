export {
  deliveryKeyOf,
  deliveryRules,
  deliveryViolations,
  deliveryViolationsAtRest,
  firstDeliveryState,
  outcomeOf,
  type DeliveryBounds,
  type DeliveryRules,
  type DeliveryState,
  type Sender,
} from './deliveries.ts';
export { deliveryActions, deliveryStepsFrom, nextDeliveryInCalm } from './delivery-steps.ts';
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
export { type Bounds, initialState, keyOf, rules, type Rules, type State } from './state.ts';
export { problemOfTrail, type TrailEntry } from './trail.ts';
