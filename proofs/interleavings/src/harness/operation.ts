import type { ClaimedDeletion, Database } from '@pasteflow/postgres';

/** The rows of one paste, job or delivery that a schedule can hold locked, so that a statement stops there. */
export type LockPoint =
  | 'paste'
  | 'newer'
  | 'payload'
  | 'execution'
  | 'job'
  | 'request'
  | 'user'
  | 'invitation'
  | 'delivery'
  | 'endpoint';

/** How the short codes begin that requests with an Idempotency-Key choose. */
export const KEYED_CODE = 'keyed';

/** How the short codes of deposits without a key begin. */
export const DEPOSIT_CODE = 'deposit';

/** The cap on the open jobs of the user. */
export const MAX_OPEN_JOBS = 2;

/** The paste or the job that the operations of a schedule meet on. */
export interface World {
  /** The row to lock for each lock point, as SQL. */
  readonly lockPoints: Readonly<Partial<Record<LockPoint, string>>>;
  readonly pasteId: string;
  /** A paste that was made from it. */
  readonly newerId: string;
  readonly shortCode: string;
  readonly jobId: string;
  readonly userId: string;
  /** Of a request for secrets. */
  readonly requestCode: string;
  /** Of a webhook, and of a delivery to it. */
  readonly endpointId: string;
  readonly deliveryId: string;
  /** How many places were taken when its cancel was committed, or its expiry. */
  readonly takenAtEnd: number[];
  /** The open execution, or the one that ended last. */
  readonly executionId: string;
  /** The claim of a paste that a cleanup is deleting. */
  readonly deletion: ClaimedDeletion | null;
  /** What S3 holds: short codes, and storage paths of assets. */
  readonly objects: Set<string>;
  /** The open work has no open execution, and may stay so: only a rescue ends that. */
  readonly isStranded: boolean;
}

/**
 * What a statement reports to its caller. undefined: it does not say whether it changed a state.
 * `rolledBack`: its transaction is rolled back, and the operation ends.
 */
type Report = { readonly changed: boolean } | { readonly rolledBack: true } | undefined;

/**
 * Runs in a transaction of its own, which is committed by a later move. `actor` is unique in the schedule.
 */
export interface Statement<State> {
  readonly statement: (db: Database, world: World, actor: string, state: State) => Promise<Report>;
}

/**
 * A statement that only reads: it is one move.
 * @returns false when the operation has nothing to do and ends
 */
export interface Read<State> {
  readonly read: (db: Database, world: World, state: State) => Promise<boolean>;
}

/** A request to S3, between two statements. */
export interface Request<State> {
  readonly request: (world: World, state: State) => void;
}

/** What one process does: statements and requests, one after the other. */
export interface Operation {
  readonly name: string;
  /** The rows that it locks, changes or refers to. */
  readonly touches: readonly LockPoint[];
  /** The rows that it skips when they are locked. Schedules with and without a lock on them are run. */
  readonly skips: readonly LockPoint[];
  readonly begin: () => readonly RunnableStep[];
}

export type RunnableStep =
  | { readonly kind: 'statement'; run(db: Database, world: World, actor: string): Promise<Report> }
  | { readonly kind: 'read'; run(db: Database, world: World): Promise<boolean> }
  | { readonly kind: 'request'; run(world: World): void };

interface Rows {
  readonly touches: readonly LockPoint[];
  readonly skips?: readonly LockPoint[];
}

/** An operation whose steps share a state: what the first has read is what the next acts on. */
export function operation<State>(
  name: string,
  { touches, skips = [] }: Rows,
  makeState: () => State,
  steps: readonly (Statement<State> | Read<State> | Request<State>)[],
): Operation {
  return {
    name,
    touches,
    skips,
    begin: () => {
      const state = makeState();
      return steps.map((step): RunnableStep => {
        if ('request' in step) return { kind: 'request', run: (world) => step.request(world, state) };
        if ('read' in step) return { kind: 'read', run: (db, world) => step.read(db, world, state) };
        return { kind: 'statement', run: (db, world, actor) => step.statement(db, world, actor, state) };
      });
    },
  };
}

/** An operation of one statement. */
export function statement(
  name: string,
  rows: Rows,
  run: (db: Database, world: World, actor: string) => Promise<Report>,
): Operation {
  return operation(name, rows, () => null, [{ statement: run }]);
}
