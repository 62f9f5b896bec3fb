import type { Database } from '@pasteflow/postgres';
import type { DatabaseGate } from './database-gate.ts';
import type { RunningExecutions } from './running-executions.ts';

/** What everything that this process runs stands on, whichever queue it came from. */
export interface WorkerContext {
  readonly db: Database;
  readonly gate: DatabaseGate;
  readonly running: RunningExecutions;
  /** Who claims and settles here, as the timeline shows it. */
  readonly actor: string;
  readonly leaseSeconds: number;
  /** Aborted when the worker is being stopped and what still runs is to be dropped. */
  readonly graceOver: AbortSignal;
}
