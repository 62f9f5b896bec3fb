import { isDeepStrictEqual } from 'node:util';
import { seededRandom } from '@pasteflow/dev-stack/testing';
import type { Database } from '@pasteflow/postgres';
import {
  deliveryRules,
  deliveryStepsFrom,
  firstDeliveryState,
  nextDeliveryInCalm,
  type DeliveryRules,
  type DeliveryState,
} from '../src/index.ts';
import { RealDelivery, type DeliveryRows } from './real-delivery.ts';

const BOUNDS = { workers: 2, faults: 10, again: 2 };
const STEPS = 30;

/**
 * Performs random traces of the model of deliveries, each to its end, by the real statements.
 * @param mutant replaces rules of the model
 * @returns the actions that happened, and the trace after which the rows are not those of the model; null: they always are
 */
export async function replayDeliveries(
  db: Database,
  { traces, seed = 1, mutant = {} }: { traces: number; seed?: number; mutant?: Partial<DeliveryRules> },
): Promise<{ readonly actions: ReadonlySet<string>; readonly difference: string | null }> {
  const random = seededRandom(seed);
  const actions = new Set<string>();
  const rules = { ...deliveryRules, ...mutant };
  for (let trace = 0; trace < traces; trace += 1) {
    const real = await RealDelivery.create(db, rules);
    const path: string[] = [];
    let state = firstDeliveryState(BOUNDS);
    for (;;) {
      const steps = deliveryStepsFrom(state, rules).filter(
        ({ name }) => name !== 'the endpoint is removed' || trace % 4 === 0, // little happens afterwards
      );
      const step =
        path.length < STEPS ? steps[Math.floor(random() * steps.length)] : nextDeliveryInCalm(state, rules);
      if (step === null || step === undefined) break;
      path.push(`${step.name} (${step.by})`);
      actions.add(step.name);
      const difference = await compare(real, () => real.perform(step.name, step.by, state), step.state);
      if (difference !== null) return { actions, difference: [...path, difference].join('\n') };
      state = step.state;
    }
  }
  return { actions, difference: null };
}

async function compare(
  real: RealDelivery,
  run: () => Promise<void>,
  { endpoint, delivery, open }: DeliveryState,
): Promise<string | null> {
  const expected: DeliveryRows = { endpoint, delivery, open: open.map(({ id: _, ...rest }) => rest) };
  try {
    await run();
  } catch (error) {
    return String(error);
  }
  const found = await real.read();
  if (isDeepStrictEqual(found, expected)) return null;
  return `Postgres: ${JSON.stringify(found)}\nmodel:    ${JSON.stringify(expected)}`;
}
