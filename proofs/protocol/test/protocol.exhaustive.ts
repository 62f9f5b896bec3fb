import { expect, it } from '@jest/globals';
import { rules } from '../src/index.ts';
import { exploreAll, exploreTraces } from './explore.ts';
import { exploreDeliveries } from './explore-deliveries.ts';

const MINUTES = 60_000;
const { TRACES = '100000', SEED = '1' } = process.env;

it(
  'keeps every invariant in each state to which three faults can lead',
  () => {
    const { states, steps, counterexample } = exploreAll({ workers: 2, faults: 3, retries: 1 }, rules);
    process.stdout.write(`${states} states, ${steps} steps\n`);
    expect(counterexample).toBeNull();
  },
  30 * MINUTES,
);

it(
  'keeps every invariant in each state of a delivery to which four faults can lead',
  () => {
    const { states, steps, counterexample } = exploreDeliveries({ workers: 3, faults: 4, again: 2 });
    process.stdout.write(`deliveries: ${states} states, ${steps} steps\n`);
    expect(counterexample).toBeNull();
  },
  30 * MINUTES,
);

it(
  'keeps every invariant in random traces of three workers and many faults',
  () => {
    exploreTraces(Number(TRACES), Number(SEED));
    process.stdout.write(`${TRACES} traces, seed ${SEED}\n`);
  },
  60 * MINUTES,
);
