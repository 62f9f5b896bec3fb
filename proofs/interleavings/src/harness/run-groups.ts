import { createTestDatabase, type TestPostgres } from '@pasteflow/dev-stack/testing';
import { explore, type Orders, type Scenario } from './explore.ts';
import type { Operation } from './operation.ts';
import { Gates, type Lane } from './run-schedule.ts';
import { openOne } from './runner.ts';

/** Operations that meet in a scenario. */
export interface Group {
  readonly scenario: Scenario;
  readonly operations: readonly Operation[];
}

export interface GroupsResult {
  readonly groups: number;
  readonly schedules: number;
  readonly bad: readonly string[];
}

/**
 * Every group of `size` operations of each scenario. An operation also meets itself: two processes do the
 * same.
 */
export function groupsOf(scenarios: readonly Scenario[], size: number): readonly Group[] {
  return scenarios.flatMap((scenario) =>
    combinations(scenario.operations, size).map((operations) => ({ scenario, operations })),
  );
}

function combinations<Item>(items: readonly Item[], size: number): readonly (readonly Item[])[] {
  if (size === 0) return [[]];
  return items.flatMap((item, index) =>
    combinations(items.slice(index), size - 1).map((others) => [item, ...others]),
  );
}

const MAX_LOCK_POINTS = 3;

async function openLane(stack: TestPostgres, operations: number): Promise<Lane & { close(): Promise<void> }> {
  const { url } = await createTestDatabase(stack);
  const openMany = (count: number) => Array.from({ length: count }, () => openOne(url));
  const [sessions, gates, db] = [openMany(operations), openMany(MAX_LOCK_POINTS), openOne(url)];
  const close = async () => {
    await Promise.all([db, ...sessions, ...gates].map((each) => each.destroy()));
  };
  return { db, sessions, gates: new Gates(gates), close };
}

/** Runs the schedules of each group, in as many databases side by side as there are lanes. */
export async function runGroups(
  stack: TestPostgres,
  groups: readonly Group[],
  { lanes, orders }: { lanes: number; orders?: () => Orders },
): Promise<GroupsResult> {
  const size = Math.max(...groups.map(({ operations }) => operations.length));
  const left = [...groups];
  const bad: string[] = [];
  let schedules = 0;
  const work = async (): Promise<void> => {
    const lane = await openLane(stack, size);
    try {
      for (let group = left.shift(); group !== undefined; group = left.shift()) {
        const explored = await explore(lane, group.scenario, group.operations, orders);
        schedules += explored.schedules;
        bad.push(...explored.bad);
      }
    } finally {
      await lane.close();
    }
  };
  await Promise.all(Array.from({ length: lanes }, work));
  return { groups: groups.length - left.length, schedules, bad };
}
