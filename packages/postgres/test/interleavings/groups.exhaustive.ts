import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { startTestStack, type TestStack } from '@pasteflow/dev-stack/testing';
import { groupsOf, runGroups } from './harness/run-groups.ts';
import { scenarios } from './scenarios.ts';

const HOURS_MS = 3_600_000;

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack();
}, 120_000);
afterAll(() => stack.stop());

it.each(scenarios.flatMap((scenario) => [2, 3].map((size) => ({ name: scenario.name, size, scenario }))))(
  'keeps every invariant in every order of $size operations on $name',
  async ({ name, size, scenario }) => {
    const { groups, schedules, bad } = await runGroups(stack, groupsOf([scenario], size), { lanes: 4 });
    const counts = `${groups} groups of ${size}, ${schedules} schedules, ${schedules - bad.length} good`;
    process.stdout.write(`${name}: ${counts}\n`);
    expect(bad).toEqual([]);
  },
  2 * HOURS_MS,
);
