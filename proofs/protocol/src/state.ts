import {
  type AttemptOutcome,
  decideNextStep,
  type NextStep,
  type PasteDeletionState,
  type PasteUploadState,
  type RetryPolicy,
} from '@pasteflow/domain';

/** Only jobs yield. */
export type UploadOutcomeKind = Exclude<AttemptOutcome['kind'], 'yielded'>;

/** What the model of the protocol knows of one paste whose creation was answered 201. */
export interface State {
  /** null: the row was removed. */
  readonly paste: Paste | null;
  /** The open executions. */
  readonly open: readonly Execution[];
  readonly workers: readonly (Worker | null)[];
  readonly cleanups: readonly (Cleanup | null)[];
  /** The messages in the queue. One that is hidden, or not due, is received later. */
  readonly messages: number;
  /** Messages that were received too often without an outcome. */
  readonly deadLetters: number;
  /** The execution whose message the api or the relay has sent, and not stamped yet. */
  readonly sender: number | null;
  /** The attempt that plain SQL has ended. */
  readonly stranded: Count | null;
  /** What the sweep of failed pastes has done: it has claimed the paste, and then deleted its object. */
  readonly failedSweep: 'claimed' | 'deleted' | null;
  readonly object: boolean;
  /** Requests whose answer nobody waits for, and that S3 may still execute. */
  readonly latePuts: number;
  /** A reconcile has found the object without a live row, and will delete it. */
  readonly orphanFound: boolean;
  /** The deletion was requested, or the paste was FAILED for a day. */
  readonly mayGo: boolean;
  /** The attempts that ended with a failure of S3. */
  readonly failures: number;
  /** The attempts that were lost. */
  readonly losses: number;
  /** The next id of an execution or of a claim for deletion. */
  readonly nextId: number;
  /** How many faults may still come. */
  readonly faults: number;
  /** How many retries by an operator may still come. */
  readonly retries: number;
}

interface Paste {
  readonly status: PasteUploadState;
  readonly deletion: PasteDeletionState;
  readonly hasPayload: boolean;
  /** The payload of a FAILED paste, for a retry. */
  readonly hasFailedPayload: boolean;
  readonly deletionRequested: boolean;
  /** The claim of the cleanup. */
  readonly claim: number | null;
}

export interface Count {
  readonly attempt: number;
  readonly losses: number;
}

export interface Execution extends Count {
  /** The fencing token. */
  readonly id: number;
  readonly status: 'PENDING' | 'RUNNING';
  readonly dispatched: boolean;
  readonly hasLease: boolean;
}

/** What a worker, or the sweep of dead letters, has in memory. */
export type Worker = Count & {
  readonly execution: number;
  readonly message: 'message' | 'dead letter';
} & (
    | { readonly step: 'put' }
    | { readonly step: 'settle'; readonly outcome: UploadOutcomeKind }
    | { readonly step: 'answer'; readonly acknowledges: boolean }
  );

interface Cleanup {
  readonly claim: number;
  readonly objectDeleted: boolean;
}

export interface Bounds {
  readonly workers: number;
  readonly faults: number;
  readonly retries: number;
}

/** The rows that a creation inserts. */
export const newRows = {
  paste: {
    status: 'IN_PROGRESS',
    deletion: 'NOT_EXPIRED',
    hasPayload: true,
    hasFailedPayload: false,
    deletionRequested: false,
    claim: null,
  },
  open: [],
  mayGo: false,
  failures: 0,
  losses: 0,
} as const satisfies Partial<State>;

/** An execution that waits for a worker. */
export function insertExecution(state: State, { attempt, losses }: Count, dispatched: boolean): State {
  const execution = {
    id: state.nextId,
    status: 'PENDING',
    attempt,
    losses,
    dispatched,
    hasLease: false,
  } as const;
  return { ...state, open: [...state.open, execution], nextId: state.nextId + 1 };
}

/** A paste that was just created. */
export function initialState({ workers, faults, retries }: Bounds): State {
  const state: State = {
    ...newRows,
    workers: Array.from({ length: workers }, () => null),
    cleanups: [null, null],
    messages: 0,
    deadLetters: 0,
    sender: null,
    stranded: null,
    failedSweep: null,
    object: false,
    latePuts: 0,
    orphanFound: false,
    nextId: 1,
    faults,
    retries,
  };
  return insertExecution(state, { attempt: 1, losses: 0 }, false);
}

/** The same for states that differ only in ids and in the order of their processes. */
export function keyOf({ paste, open, workers, cleanups, sender, nextId: _, ...rest }: State): string {
  const ids = open.map(({ id }) => id);
  const worker = (each: Worker | null) =>
    each === null ? '' : Object.values({ ...each, execution: ids.indexOf(each.execution) }).join(' ');
  const cleanup = (each: Cleanup | null) =>
    each === null ? '' : `${each.claim === paste?.claim} ${each.objectDeleted}`;
  return JSON.stringify([
    paste && Object.values({ ...paste, claim: null }),
    open.map((execution) => Object.values({ ...execution, id: 0 })),
    workers.map(worker).sort(),
    cleanups.map(cleanup).sort(),
    sender && ids.indexOf(sender),
    Object.values(rest),
  ]);
}

/** The guards of the protocol. A test breaks one of them, and expects that an invariant is broken. */
export interface Rules {
  readonly policy: RetryPolicy;
  readonly nextStep: typeof decideNextStep;
  /** The fence of a settlement. */
  readonly settles: (state: State, worker: Worker) => boolean;
  readonly reaps: (execution: Execution) => boolean;
  /** Whether a claim, the sweep of failed pastes, or a settlement before this step deletes the payload. */
  readonly deletesPayload: (at: 'claim' | 'failed sweep' | NextStep['kind']) => boolean;
  /** Whether a message is acknowledged when it is received. */
  readonly acknowledgesFirst: boolean;
  /** Whether no message was ever sent. */
  readonly isUnsent: (execution: Execution) => boolean;
  /** Whether the message may be lost. */
  readonly isOverdue: (execution: Execution) => boolean;
  readonly cleansUp: (paste: NonNullable<State['paste']>) => boolean;
  /** Whether the object is in use, or may still be. */
  readonly isLive: (state: Pick<State, 'paste'>) => boolean;
}

export const rules: Rules = {
  policy: { delaysMs: [1000], jitterMs: 0 },
  nextStep: decideNextStep,
  settles: ({ open }, { execution }) =>
    open.some(({ id, status }) => id === execution && status === 'RUNNING'),
  reaps: ({ status, hasLease }) => status === 'RUNNING' && !hasLease,
  deletesPayload: (at) => at === 'done' || at === 'give_up' || at === 'failed sweep',
  acknowledgesFirst: false,
  isUnsent: ({ status, dispatched }) => status === 'PENDING' && !dispatched,
  isOverdue: ({ status, dispatched }) => status === 'PENDING' && dispatched,
  cleansUp: ({ status, deletion, deletionRequested }) =>
    deletion === 'NOT_EXPIRED' && deletionRequested && status !== 'IN_PROGRESS',
  isLive: ({ paste }) =>
    paste !== null && paste.deletion !== 'DELETED' && (paste.status !== 'FAILED' || paste.hasFailedPayload),
};

/** What an action makes of a state; null: it can't happen. `by`: the number of the worker or the cleanup. */
export type Effect = (state: State, by: number, rules: Rules) => State | null;

/** An action of none of the workers or cleanups. */
export function once(effect: (state: State, rules: Rules) => State | null): Effect {
  return (state, by, given) => (by === 0 ? effect(state, given) : null);
}

/** Actions by their names. */
export function actions<Name extends string>(effects: Record<Name, Effect>): Readonly<Record<Name, Effect>> {
  return effects;
}
