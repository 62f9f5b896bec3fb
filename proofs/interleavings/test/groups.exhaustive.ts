import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { seededRandom, startTestPostgres, type TestPostgres } from '@pasteflow/dev-stack/testing';
import { everyOrder, randomOrders } from '../src/harness/explore.ts';
import { groupsOf, runGroups } from '../src/harness/run-groups.ts';
import { scenarios } from '../src/scenarios.ts';

const HOURS_MS = 3_600_000;

/**
 * How many random orders of each triple are run; `all`: every order, which takes days. Three operations have
 * up to thousands of orders, and a machine with two cores runs some 50 a second. Pairs are always run in
 * every order.
 */
const { TRIPLE_ORDERS = '10', SEED = '1' } = process.env;

let stack: TestPostgres;
beforeAll(async () => {
  stack = await startTestPostgres();
}, 120_000);
afterAll(() => stack.stop());

it.each(scenarios.flatMap((scenario) => [2, 3].map((size) => ({ name: scenario.name, size, scenario }))))(
  'keeps every invariant in the orders of $size operations on $name',
  async ({ name, size, scenario }) => {
    const random = seededRandom(Number(SEED));
    const isSample = size === 3 && TRIPLE_ORDERS !== 'all';
    const orders = isSample ? () => randomOrders(Number(TRIPLE_ORDERS), random) : everyOrder;
    const { groups, schedules, bad } = await runGroups(stack, groupsOf([scenario], size), {
      lanes: 4,
      orders,
    });
    const counts = `${groups} groups of ${size}, ${schedules} schedules, ${schedules - bad.length} good`;
    process.stdout.write(`${name}: ${counts}${isSample ? `, seed ${SEED}` : ''}\n`);
    expect(bad).toEqual([]);
  },
  12 * HOURS_MS,
);
