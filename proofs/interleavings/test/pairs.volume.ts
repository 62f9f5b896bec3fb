import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { startTestPostgres, type TestPostgres } from '@pasteflow/dev-stack/testing';
import { sql } from 'kysely';
import { groupsOf, runGroups } from '../src/harness/run-groups.ts';
import { scenarios } from '../src/scenarios.ts';
import { operation } from '../src/harness/operation.ts';

/** Reads the state and changes it by two statements: what a claim without a compare-and-set would do. */
const takeWithoutFence = operation('take without a fence', { touches: ['execution'] }, () => null, [
  {
    read: async (db, { executionId }) => {
      const { rows } = await sql`
          SELECT FROM task_executions WHERE id = ${executionId} AND status = 'PENDING'`.execute(db);
      return rows.length > 0;
    },
  },
  {
    statement: async (db, { executionId }, actor) => {
      await sql`
          WITH actor AS MATERIALIZED (SELECT set_config('pasteflow.actor', ${actor}, true))
          UPDATE task_executions SET status = 'RUNNING', worker_id = ${actor}, started_at = now(), lease_expires_at = now()
          FROM actor WHERE id = ${executionId}`.execute(db);
      return { changed: true };
    },
  },
]);

/**
 * The scenarios in which most operations change rows, and of each the pairs with an operation for which the scenario
 * exists. `npm run proof -- interleavings` runs all pairs of all scenarios, each night.
 */
const CHOSEN: Readonly<Record<string, readonly string[]>> = {
  'a waiting paste': ['create', 'relay', 'claim', 'delete by user', 'cleanup'],
  'an abandoned paste': ['renew', 'settle stored', 'settle failed', 'reap'],
  'a stranded paste': ['rescue'],
  'a failed paste': ['retry'],
  'a paste claimed for deletion': ['settle deletion', 'release deletion', 'watchdog'],
  'a stored paste to read once': ['reveal', 'cleanup'],
  'an abandoned job': ['claim', 'complete', 'reap', 'cancel'],
  'an Idempotency-Key': ['create with a key', 'create with a key in a group', 'create with a key slowly'],
  'a request with one place left': ['deposit', 'cancel request'],
  'an abandoned delivery': ['settle delivered', 'reap'],
  'an expired paste whose owner is told': ['delete by user', 'cleanup'],
};

const scenarioOf = (name: string) => scenarios.find((scenario) => scenario.name === name)!;

let stack: TestPostgres;
beforeAll(async () => {
  stack = await startTestPostgres();
}, 120_000);
afterAll(() => stack.stop());

it('keeps every invariant in every order in which two operations can meet on a paste or a job', async () => {
  const pairs = Object.entries(CHOSEN).flatMap(([name, chosen]) => {
    const scenario = scenarioOf(name);
    expect(scenario.operations.map((each) => each.name)).toEqual(expect.arrayContaining([...chosen]));
    return groupsOf([scenario], 2).filter(({ operations }) =>
      operations.some((each) => chosen.includes(each.name)),
    );
  });
  const { groups, schedules, bad } = await runGroups(stack, pairs, { lanes: 4 });
  process.stdout.write(`${groups} pairs, ${schedules} schedules, ${schedules - bad.length} good\n`);
  expect(bad).toEqual([]);
  const pairsOf = (count: number) => (count * (count + 1)) / 2; // also of an operation with itself
  const expected = Object.entries(CHOSEN).map(([name, { length }]) => {
    const all = scenarioOf(name).operations.length;
    return pairsOf(all) - pairsOf(all - length);
  });
  expect(groups).toBe(expected.reduce((sum, count) => sum + count));
  expect(schedules).toBeGreaterThan(groups * 2);
}, 600_000);

it('finds the schedule in which two workers take an execution by a statement without a fence', async () => {
  const scenario = scenarioOf('a waiting paste');
  const group = { scenario, operations: [takeWithoutFence, takeWithoutFence] };
  const { bad } = await runGroups(stack, [group], { lanes: 1 });
  expect(bad).toContainEqual(expect.stringContaining('take without a fence 2 says that it changed a state'));
}, 120_000);
