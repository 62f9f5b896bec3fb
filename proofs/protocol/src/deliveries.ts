import {
  type AttemptOutcome,
  canTransition,
  decideNextStep,
  maxAttempts,
  type RetryPolicy,
  webhookDelivery,
  type WebhookDeliveryState,
} from '@pasteflow/domain';
import type { Count } from './state.ts';

/** What the model knows of an event, one endpoint that may be told of it, and the delivery of the event. */
export interface DeliveryState {
  readonly endpoint: 'on' | 'off' | 'removed';
  /** Whether the event has happened while the endpoint was on: it must be told. */
  readonly isDue: boolean;
  readonly hasHappened: boolean;
  /** Of the delivery that was made last; null: there is none, or it was removed with its endpoint. */
  readonly delivery: WebhookDeliveryState | null;
  /** The open executions of the delivery. */
  readonly open: readonly DeliveryExecution[];
  readonly workers: readonly (Sender | null)[];
  /** The attempt that plain SQL has ended. */
  readonly stranded: Count | null;
  /** The requests that the endpoint has accepted. */
  readonly accepted: number;
  /** The attempts of the last delivery that the endpoint did not take, and those that were lost. */
  readonly refusals: number;
  readonly losses: number;
  readonly nextId: number;
  /** How many faults may still come, and how often the event may still be sent again. */
  readonly faults: number;
  readonly again: number;
}

export interface DeliveryExecution extends Count {
  /** The fencing token. */
  readonly id: number;
  readonly status: 'PENDING' | 'RUNNING';
  readonly hasLease: boolean;
}

/** What a worker has in memory. */
export type Sender = Count & { readonly execution: number } & (
    | { readonly step: 'send'; readonly endpointWasOn: boolean }
    | { readonly step: 'settle'; readonly outcome: 'accepted' | 'refused' | 'gone' | 'off' | 'interrupted' }
  );

/** The guards of the protocol. A test breaks one of them, and expects that an invariant is broken. */
export interface DeliveryRules {
  readonly policy: RetryPolicy;
  readonly nextStep: typeof decideNextStep;
  /** Whether the statement that makes an event true records it. */
  readonly records: boolean;
  /** Whether an event that happens again is recorded again. */
  readonly recordsAgain: boolean;
  /** The fence of a settlement. */
  readonly settles: (state: DeliveryState, sender: Sender) => boolean;
  readonly reaps: (execution: DeliveryExecution) => boolean;
  /** Whether a worker sends when the endpoint is as its claim has found it. */
  readonly sends: (endpoint: DeliveryState['endpoint']) => boolean;
}

export const deliveryRules: DeliveryRules = {
  policy: { delaysMs: [1000], jitterMs: 0, maxLosses: 3 },
  nextStep: decideNextStep,
  records: true,
  recordsAgain: false,
  settles: ({ open }, { execution }) =>
    open.some(({ id, status }) => id === execution && status === 'RUNNING'),
  reaps: ({ status, hasLease }) => status === 'RUNNING' && !hasLease,
  sends: (endpoint) => endpoint === 'on',
};

export interface DeliveryBounds {
  readonly workers: number;
  readonly faults: number;
  readonly again: number;
}

export function firstDeliveryState({ workers, faults, again }: DeliveryBounds): DeliveryState {
  return {
    endpoint: 'on',
    isDue: false,
    hasHappened: false,
    delivery: null,
    open: [],
    workers: Array.from({ length: workers }, () => null),
    stranded: null,
    accepted: 0,
    refusals: 0,
    losses: 0,
    nextId: 1,
    faults,
    again,
  };
}

/** The same for states that differ only in ids and in the order of the workers. */
export function deliveryKeyOf({ open, workers, nextId: _, ...rest }: DeliveryState): string {
  const ids = open.map(({ id }) => id);
  return JSON.stringify([
    Object.values(rest),
    open.map((execution) => Object.values({ ...execution, id: 0 })),
    workers
      .map((each) => each && Object.values({ ...each, execution: ids.indexOf(each.execution) }))
      .map(String)
      .sort(),
  ]);
}

export interface DeliveryStep {
  readonly name: string;
  /** The number of the worker; 0 for everything else. */
  readonly by: number;
  readonly state: DeliveryState;
}

const OUTCOMES = {
  accepted: { kind: 'succeeded' },
  refused: { kind: 'failed', error: 'endpoint failed: answered 500' },
  gone: { kind: 'failed', error: 'endpoint failed: answered 410', isFinal: true },
  off: { kind: 'failed', error: 'endpoint off', isFinal: true },
  interrupted: { kind: 'interrupted' },
  lost: { kind: 'lost', error: 'worker lost' },
} as const satisfies Record<string, AttemptOutcome>;

export type EndKind = keyof typeof OUTCOMES;

/** How the end of an attempt looks to the retry policy. */
export function outcomeOf(end: EndKind): AttemptOutcome {
  return OUTCOMES[end];
}

/** What is wrong with a state, and with the step that led there. */
export function deliveryViolations(
  before: DeliveryState,
  { name, by, state }: DeliveryStep,
  { policy }: DeliveryRules,
  bounds: DeliveryBounds,
): string[] {
  const { delivery, open, stranded, accepted, refusals, losses, faults, again } = state;
  const found: string[] = [];
  if (open.length > 1) found.push('the delivery has two open executions');
  const [execution] = open;
  if (execution && (execution.attempt !== refusals + 1 || execution.losses !== losses))
    found.push(
      `attempt ${execution.attempt}, losses ${execution.losses} after ${refusals} refusals and ${losses} losses`,
    );
  if (open.length > 0 && delivery !== 'WAITING')
    found.push(`the delivery is ${delivery} with an open execution`);
  if (delivery === 'WAITING' && open.length === 0 && stranded === null)
    found.push('the delivery waits without an open execution');
  if (delivery === 'DELIVERED' && accepted === 0) found.push('what nobody has accepted is DELIVERED');
  const faultsSoFar = bounds.faults - faults;
  const sentAgain = bounds.again - again;
  if (accepted > 1 + faultsSoFar + sentAgain)
    found.push(`the event was accepted ${accepted} times after ${faultsSoFar} faults`);
  const isOver = refusals >= maxAttempts(policy) || losses >= (policy.maxLosses ?? Infinity);
  const gaveUp = delivery === 'FAILED' && before.delivery === 'WAITING';
  const sender = before.workers[by];
  const isFinal = sender?.step === 'settle' && ['gone', 'off'].includes(sender.outcome);
  if (gaveUp && !isOver && !isFinal) found.push(`the delivery has FAILED after ${refusals} refusals`);
  if (sender?.step === 'send' && !sender.endpointWasOn && accepted > before.accepted)
    found.push('an endpoint was told that was off when the delivery was claimed');
  const isOther = before.delivery === null || delivery === null || again < before.again;
  if (
    !isOther &&
    before.delivery !== delivery &&
    !canTransition(webhookDelivery, before.delivery as never, delivery as never)
  )
    found.push(`the delivery went from ${before.delivery} to ${delivery}`);
  const owned = /settle/.test(name) ? sender?.execution : undefined;
  const robbed = before.open.some(
    ({ id, hasLease }) => hasLease && id !== owned && !open.some((each) => each.id === id),
  );
  if (robbed && !['plain SQL ends the execution', 'what a removed endpoint left is removed'].includes(name))
    found.push('an execution ended while its worker had a lease');
  return found;
}

/** What is wrong with a state in which the services have nothing more to do. */
export function deliveryViolationsAtRest(state: DeliveryState): string[] {
  const { delivery, open, workers, endpoint, isDue } = state;
  const found: string[] = [];
  if (delivery === 'WAITING' || open.length > 0) found.push('the delivery is stuck');
  if (workers.some((each) => each !== null)) found.push('a worker is stuck');
  if (isDue && delivery === null && endpoint !== 'removed') found.push('what has happened was not told');
  return found;
}
