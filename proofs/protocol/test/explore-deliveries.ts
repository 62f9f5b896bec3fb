import {
  deliveryKeyOf,
  deliveryRules,
  deliveryStepsFrom,
  deliveryViolations,
  deliveryViolationsAtRest,
  firstDeliveryState,
  nextDeliveryInCalm,
  type DeliveryBounds,
  type DeliveryRules,
} from '../src/index.ts';
import { explore, type Explored } from './explore.ts';

/** Visits each state of a delivery that can be reached. @param mutant replaces rules of the model */
export function exploreDeliveries(bounds: DeliveryBounds, mutant: Partial<DeliveryRules> = {}): Explored {
  const rules = { ...deliveryRules, ...mutant };
  return explore({
    first: firstDeliveryState(bounds),
    keyOf: deliveryKeyOf,
    stepsFrom: (state) => deliveryStepsFrom(state, rules),
    nextInCalm: (state) => nextDeliveryInCalm(state, rules),
    violationsOf: (before, step) => deliveryViolations(before, step, rules, bounds),
    violationsAtRest: deliveryViolationsAtRest,
    describe: ({ name, by }) => `${name} (${by})`,
  });
}
