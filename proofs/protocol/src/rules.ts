import { decideNextStep, type NextStep } from '@pasteflow/domain';
import type { RetryPolicy } from '@pasteflow/domain';
import type { Execution, State, Worker } from './state.ts';

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
