import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { startTestPostgres, type TestPostgres } from '@pasteflow/dev-stack/testing';
import { sql } from 'kysely';
import { retryByOperator } from '../src/operations/uploads.ts';
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
 * Those in which most operations change rows. `npm run proof -- interleavings` runs the pairs of all
 * scenarios.
 */
const BUSY = [
  'a waiting paste',
  'an abandoned paste',
  'a stranded paste',
  'a paste claimed for deletion',
  'a stored paste to read once',
  'an abandoned job',
  'an Idempotency-Key',
  'a request with one place left',
  'an abandoned delivery',
  'an expired paste whose owner is told',
];
const busy = scenarios.filter(({ name }) => BUSY.includes(name));

const scenarioOf = (name: string) => scenarios.find((scenario) => scenario.name === name)!;

let stack: TestPostgres;
beforeAll(async () => {
  stack = await startTestPostgres();
}, 120_000);
afterAll(() => stack.stop());

it('keeps every invariant in every order in which two operations can meet on a paste or a job', async () => {
  const retries = groupsOf([scenarioOf('a failed paste')], 2).filter(({ operations }) =>
    operations.includes(retryByOperator),
  );
  const pairs = [...groupsOf(busy, 2), ...retries];
  const { groups, schedules, bad } = await runGroups(stack, pairs, { lanes: 4 });
  process.stdout.write(`${groups} pairs, ${schedules} schedules, ${schedules - bad.length} good\n`);
  expect(bad).toEqual([]);
  expect(groups).toBe(
    busy
      .map(({ operations: { length } }) => (length * (length + 1)) / 2)
      .reduce((sum, count) => sum + count, retries.length),
  );
  expect(schedules).toBeGreaterThan(groups * 2);
}, 600_000);

it('finds the schedule in which two workers take an execution by a statement without a fence', async () => {
  const scenario = scenarioOf('a waiting paste');
  const group = { scenario, operations: [takeWithoutFence, takeWithoutFence] };
  const { bad } = await runGroups(stack, [group], { lanes: 1 });
  expect(bad).toContainEqual(expect.stringContaining('take without a fence 2 says that it changed a state'));
}, 120_000);
