import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import type { Database, Schema } from '@pasteflow/postgres';
import { type ControlledTransaction, sql } from 'kysely';
import type { LockPoint, Operation, World } from './operation.ts';
import { readBlockers, readPid, Runner, type RunnerReport } from './runner.ts';

/** The connections that one schedule at a time uses. */
export interface Lane {
  /** For preparing and checking. */
  readonly db: Database;
  /** One connection each, for an operation. */
  readonly sessions: readonly Database[];
  readonly gates: Gates;
}

/** A choice among the operations that could move, by their positions. */
export interface Choice {
  readonly enabled: readonly number[];
  readonly chosen: number;
}

export interface ScheduleResult {
  readonly choices: readonly Choice[];
  /** One line for each move. */
  readonly moves: readonly string[];
  readonly reports: readonly RunnerReport[];
  /** Errors and deadlocks. */
  readonly problems: readonly string[];
}

/** Chooses which of the operations that could move moves next. */
export type Choose = (enabled: readonly number[], moves: number) => number;

/**
 * Runs the operations in the order that `choose` chooses, one move at a time. A move starts a statement, lets
 * it pass a locked row, or commits it; it lasts until each running statement has ended or waits for a lock.
 */
export async function runSchedule(
  lane: Lane,
  world: World,
  operations: readonly Operation[],
  { choose, lockPoints }: { choose: Choose; lockPoints: readonly LockPoint[] },
): Promise<ScheduleResult> {
  const runners = operations.map((operation, index) => new Runner(operation, index, lane.sessions[index]!));
  const choices: Choice[] = [];
  const moves: string[] = [];
  const problems: string[] = [];
  await lane.gates.close(world, lockPoints);
  for (;;) {
    const blockers = await untilAllWait(lane, runners);
    const enabled = [...runners.keys()].filter((index) => canMove(runners[index]!, blockers, lane.gates));
    if (enabled.length === 0) {
      if (runners.every(({ phase }) => phase === 'ended')) break;
      problems.push(`deadlock after: ${moves.join('; ')}`);
      await untilPostgresEndsDeadlock(runners);
      continue;
    }
    const chosen = choose(enabled, choices.length);
    choices.push({ enabled, chosen });
    const runner = runners[chosen]!;
    moves.push(`${runner.actor} ${await move(runner, world, blockers, lane.gates)}`);
  }
  await lane.gates.openAll();
  for (const { actor, error } of runners)
    if (error !== undefined) problems.push(`${actor}: ${inspect(error, { depth: 0 })}`);
  return { choices, moves, reports: runners.map(({ report }) => report), problems };
}

/**
 * A runner waits for a row that is locked on purpose, and for no other runner: it is the first in the queue.
 */
function canMove({ phase, pid }: Runner, blockers: ReadonlyMap<number, readonly number[]>, gates: Gates) {
  if (phase === 'ended') return false;
  return phase !== 'running' || (blockers.get(pid) ?? []).every((blocker) => gates.has(blocker));
}

async function move(
  runner: Runner,
  world: World,
  blockers: ReadonlyMap<number, readonly number[]>,
  gates: Gates,
): Promise<string> {
  if (runner.phase !== 'running') return await runner.move(world);
  for (const gate of blockers.get(runner.pid) ?? []) await gates.open(gate);
  return 'goes on';
}

/**
 * Resolves when each statement has ended or waits for another runner or a gate. A wait for anybody else, such
 * as an autovacuum that truncates a table, ends without a move.
 * @returns what each waiting session waits for
 */
async function untilAllWait(
  { db, gates }: Lane,
  runners: readonly Runner[],
): Promise<ReadonlyMap<number, readonly number[]>> {
  const isOurs = (blocker: number) => gates.has(blocker) || runners.some(({ pid }) => pid === blocker);
  for (;;) {
    await sleep(1);
    const running = runners.filter(({ phase }) => phase === 'running');
    if (running.length === 0) return new Map();
    const pids = running.map(({ pid }) => pid);
    const blockers = await readBlockers(db, pids);
    const waits = (pid: number) => blockers.get(pid)?.every(isOurs) === true;
    if (running.every(({ phase, pid }) => phase !== 'running' || waits(pid))) return blockers;
  }
}

/** Postgres ends one of the transactions after `deadlock_timeout`, 1 s. */
async function untilPostgresEndsDeadlock(runners: readonly Runner[]): Promise<void> {
  const ended = () => runners.filter(({ error }) => error !== undefined).length;
  const before = ended();
  while (ended() === before) await sleep(1);
}

/**
 * A session for each lock point that holds its row locked, until the schedule lets the first waiter through.
 */
export class Gates {
  readonly #sessions: readonly Database[];
  readonly #closed = new Map<number, ControlledTransaction<Schema>>();

  constructor(sessions: readonly Database[]) {
    this.#sessions = sessions;
  }

  async close(world: World, lockPoints: readonly LockPoint[]): Promise<void> {
    const close = async (lockPoint: LockPoint, db: Database): Promise<void> => {
      const transaction = await db.startTransaction().execute();
      this.#closed.set(await readPid(transaction), transaction);
      await sql.raw(`${world.lockPoints[lockPoint]} FOR UPDATE`).execute(transaction);
    };
    await Promise.all(lockPoints.map((lockPoint, index) => close(lockPoint, this.#sessions[index]!)));
  }

  has(pid: number): boolean {
    return this.#closed.has(pid);
  }

  async open(pid: number): Promise<void> {
    const transaction = this.#closed.get(pid);
    this.#closed.delete(pid);
    await transaction?.rollback().execute();
  }

  async openAll(): Promise<void> {
    await Promise.all([...this.#closed.keys()].map((pid) => this.open(pid)));
  }
}
