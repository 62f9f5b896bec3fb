import { sql } from 'kysely';
import { findViolations } from './find-violations.ts';
import type { LockPoint, Operation, World } from './operation.ts';
import { type Choice, type Choose, type Lane, runSchedule } from './run-schedule.ts';
import { readSnapshot } from './snapshot.ts';

/** A state of a paste or a job, and the operations that can meet on it. */
export interface Scenario {
  readonly name: string;
  readonly operations: readonly Operation[];
  prepare(lane: Lane): Promise<World>;
}

export interface Explored {
  readonly schedules: number;
  /** A text for each schedule that broke an invariant: what was run, and what was found. */
  readonly bad: readonly string[];
}

/**
 * Runs the operations in orders of their moves: in every order, unless `orders` chooses others. The rows that
 * two of them touch are locked beforehand, so that a statement stops at each of these rows. A second
 * exploration leaves the rows unlocked that one of the operations skips when they are locked.
 */
export async function explore(
  lane: Lane,
  scenario: Scenario,
  operations: readonly Operation[],
  orders: () => Orders = everyOrder,
): Promise<Explored> {
  const touched = operations.flatMap(({ touches }) => touches);
  const shared = [...new Set(touched.filter((point, index) => touched.indexOf(point) !== index))];
  const skipped = new Set(operations.flatMap(({ skips }) => skips));
  const waited = shared.filter((point) => !skipped.has(point));
  const found = [await exploreOrders(lane, scenario, operations, shared, orders())];
  if (waited.length < shared.length)
    found.push(await exploreOrders(lane, scenario, operations, waited, orders()));
  return {
    schedules: found.reduce((sum, { schedules }) => sum + schedules, 0),
    bad: found.flatMap(({ bad }) => bad),
  };
}

async function exploreOrders(
  lane: Lane,
  scenario: Scenario,
  operations: readonly Operation[],
  shared: readonly LockPoint[],
  orders: Orders,
): Promise<Explored> {
  const bad: string[] = [];
  let schedules = 0;
  for (let choose = orders.next(); choose !== null; choose = orders.next(), schedules += 1) {
    const world = await scenario.prepare(lane);
    const before = await readSnapshot(lane.db, Number.MAX_SAFE_INTEGER);
    const lockPoints = shared.filter((point) => world.lockPoints[point] !== undefined);
    const { choices, moves, reports, problems } = await runSchedule(lane, world, operations, {
      choose,
      lockPoints,
    });
    const after = await readSnapshot(lane.db, before.lastTransition);
    const violations = [...problems, ...findViolations(world, { before, after }, reports)];
    if (violations.length > 0) bad.push(describe(scenario, moves, violations));
    await sql
      .raw(
        'DELETE FROM pastes; DELETE FROM jobs; DELETE FROM task_executions; DELETE FROM idempotency_keys; DELETE FROM takedowns; DELETE FROM secret_requests; DELETE FROM invitations; DELETE FROM api_tokens; DELETE FROM webhook_deliveries; DELETE FROM webhook_endpoints',
      )
      .execute(lane.db);
    orders.ran(choices);
  }
  return { schedules, bad };
}

function describe({ name }: Scenario, moves: readonly string[], violations: readonly string[]): string {
  return [`${name}: ${violations.join('; ')}`, ...moves.map((move) => `  ${move}`)].join('\n');
}

/** The orders to run, one after the other. */
export interface Orders {
  /** null: all orders have been run. */
  next(): Choose | null;
  /** The choices that the last order led to. */
  ran(choices: readonly Choice[]): void;
}

/** Every order, depth first: the last choice that has an alternative takes the next one. */
export function everyOrder(): Orders {
  let prefix: readonly number[] | null = [];
  return {
    next: () => prefix && followPrefix(prefix),
    ran: (choices) => {
      prefix = nextPrefix(choices);
    },
  };
}

function followPrefix(prefix: readonly number[]): Choose {
  return (enabled, moves) => {
    const wanted = prefix[moves];
    return wanted !== undefined && enabled.includes(wanted) ? wanted : enabled[0]!;
  };
}

function nextPrefix(choices: readonly Choice[]): readonly number[] | null {
  const index = choices.findLastIndex(({ enabled, chosen }) => enabled.indexOf(chosen) < enabled.length - 1);
  if (index === -1) return null;
  const { enabled, chosen } = choices[index]!;
  return [...choices.slice(0, index).map((choice) => choice.chosen), enabled[enabled.indexOf(chosen) + 1]!];
}

/** `count` orders, each of random choices. @param random uniform in [0, 1) */
export function randomOrders(count: number, random: () => number): Orders {
  let left = count;
  return {
    next: () => {
      left -= 1;
      return left < 0 ? null : (enabled) => enabled[Math.floor(random() * enabled.length)]!;
    },
    ran: () => {},
  };
}
