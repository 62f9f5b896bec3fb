import { type ControlledTransaction, sql } from 'kysely';
import { createDatabase, type Database, type Schema } from '@pasteflow/postgres';
import { prepared } from '@pasteflow/postgres/interleavings';
import type { Operation, RunnableStep, World } from './operation.ts';

/** What a runner can do next, unless its session waits for a lock. */
export type Phase = 'ready' | 'running' | 'uncommitted' | 'ended';

/** How many statements of a runner said that they changed a state; undefined: none says whether it did. */
export interface RunnerReport {
  readonly actor: string;
  readonly changes: number | undefined;
}

/** Runs the steps of one operation, one move at a time: start a statement, or commit it. */
export class Runner {
  readonly actor: string;
  /** Of the backend that runs its statement. */
  pid = 0;
  phase: Phase = 'ready';
  error: unknown;
  readonly #db: Database;
  readonly #steps: RunnableStep[];
  #transaction: ControlledTransaction<Schema> | undefined;
  #changes: number | undefined;
  #rollsBack = false;

  constructor(operation: Operation, index: number, db: Database) {
    this.actor = `${operation.name} ${index + 1}`;
    this.#db = db;
    this.#steps = [...operation.begin()];
  }

  get report(): RunnerReport {
    return { actor: this.actor, changes: this.#changes };
  }

  /** Commits the statement that has ended, or begins the next step. A statement runs on in the background. */
  async move(world: World): Promise<string> {
    if (this.phase === 'uncommitted') {
      const transaction = this.#transaction;
      if (this.#rollsBack) {
        await transaction?.rollback().execute();
        this.phase = 'ended';
        return 'rolls back';
      }
      await transaction?.commit().execute();
      this.#next();
      return 'commits';
    }
    const [step] = this.#steps;
    if (step?.kind === 'request') {
      step.run(world);
      this.#next();
      return 'calls S3';
    }
    if (step?.kind === 'read') {
      if (await step.run(this.#db, world)) this.#next();
      else this.phase = 'ended';
      return 'reads';
    }
    this.phase = 'running';
    this.#transaction = await this.#db.startTransaction().execute();
    this.pid = await readPid(this.#transaction);
    step?.run(this.#transaction, world, this.actor).then(
      (report) => {
        if (report !== undefined && 'rolledBack' in report) this.#rollsBack = true;
        else if (report !== undefined) {
          this.#changes = (this.#changes ?? 0) + Number(report.changed);
          if (!report.changed) this.#steps.length = 1; // a loser has nothing to follow up
        }
        this.phase = 'uncommitted';
      },
      (error: unknown) => void this.#fail(error),
    );
    return 'starts';
  }

  #next(): void {
    this.#steps.shift();
    this.phase = this.#steps.length === 0 ? 'ended' : 'ready';
  }

  async #fail(error: unknown): Promise<void> {
    this.error = error;
    await this.#transaction?.rollback().execute();
    this.phase = 'ended';
  }
}

/** A database with one connection. */
export function openOne(url: string): Database {
  return createDatabase({
    url,
    applicationName: 'interleavings',
    maxConnections: 1,
    onConnectionError: () => {},
  });
}

/** The backend of a transaction. The pool may have replaced the connection since the last one. */
export async function readPid(db: Database): Promise<number> {
  const { rows } = await sql<{ pid: number }>`${prepared}SELECT pg_backend_pid() AS pid`.execute(db);
  return rows[0]!.pid;
}

/** The sessions that each of these sessions waits for. A session that waits for nobody has no entry. */
export async function readBlockers(
  db: Database,
  pids: readonly number[],
): Promise<ReadonlyMap<number, readonly number[]>> {
  const { rows } = await sql<{ pid: number; blockers: number[] }>`${prepared}
    SELECT pid, pg_blocking_pids(pid) AS blockers FROM unnest(${pids}::integer[]) AS pid`.execute(db);
  return new Map(
    rows.filter(({ blockers }) => blockers.length > 0).map(({ pid, blockers }) => [pid, blockers]),
  );
}
