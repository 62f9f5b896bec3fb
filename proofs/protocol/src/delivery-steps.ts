import {
  outcomeOf,
  type DeliveryExecution,
  type DeliveryRules,
  type DeliveryState,
  type DeliveryStep,
  type EndKind,
  type Sender,
} from './deliveries.ts';
import type { Count } from './state.ts';

/** What an action makes of a state; null: it can't happen. `by`: the number of the worker. */
type Effect = (state: DeliveryState, by: number, rules: DeliveryRules) => DeliveryState | null;

const once =
  (effect: (state: DeliveryState, rules: DeliveryRules) => DeliveryState | null): Effect =>
  (state, by, rules) =>
    by === 0 ? effect(state, rules) : null;

/** What the workers, the sweeps and time do while nothing fails. */
const progress = {
  'a worker settles': ofSender('settle', (state, sender, by, rules) =>
    setWorker(settle(state, sender, rules), by, null),
  ),
  'the endpoint accepts': ofSender('send', (state, sender, by) =>
    settleNext({ ...state, accepted: state.accepted + 1 }, sender, by, 'accepted'),
  ),
  'a worker renews its lease': (state, by) => {
    const own = state.open.find(({ id }) => id === state.workers[by]?.execution);
    return own?.status === 'RUNNING' && !own.hasLease ? change(state, { ...own, hasLease: true }) : null;
  },
  'a dead worker loses its lease': once((state) => {
    const left = state.open.find((each) => each.hasLease && !isHeld(state, each));
    return left ? change(state, { ...left, hasLease: false }) : null;
  }),
  'a zombie is reaped': once((state, rules) => {
    const zombie = state.open.find(rules.reaps);
    return zombie ? end(state, zombie.id, { count: zombie, by: 'lost' }, rules) : null;
  }),
  'stranded work is rescued': once((state, rules) => {
    const { stranded } = state;
    if (stranded === null) return null;
    return end({ ...state, stranded: null }, null, { count: stranded, by: 'lost' }, rules);
  }),
  'a delivery is claimed': (state, by, { sends }) => {
    const execution = state.open.find(({ status }) => status === 'PENDING');
    if (execution === undefined || state.workers.indexOf(null) !== by) return null;
    const { id, attempt, losses } = execution;
    const claimed = change(state, { ...execution, status: 'RUNNING', hasLease: true });
    const sender = { execution: id, attempt, losses };
    return setWorker(
      claimed,
      by,
      sends(state.endpoint)
        ? { ...sender, step: 'send', endpointWasOn: state.endpoint === 'on' }
        : { ...sender, step: 'settle', outcome: 'off' },
    );
  },
  'what a removed endpoint left is removed': once((state) =>
    state.endpoint === 'removed' && state.delivery !== null && state.stranded === null
      ? { ...state, delivery: null, open: [] }
      : null,
  ),
  'the event happens': once((state, { records }) => {
    if (state.hasHappened) return null;
    const happened = { ...state, hasHappened: true, isDue: state.endpoint === 'on' };
    return happened.isDue && records ? record(happened) : happened;
  }),
} satisfies Record<string, Effect>;

/** What users and operators do. */
const choices = {
  'the endpoint is switched off': once((state) =>
    state.endpoint === 'on' ? { ...state, endpoint: 'off' } : null,
  ),
  'the endpoint is switched on': once((state) =>
    state.endpoint === 'off' ? { ...state, endpoint: 'on' } : null,
  ),
  'the endpoint is removed': once((state) =>
    state.endpoint === 'removed' ? null : { ...state, endpoint: 'removed' },
  ),
  'the event is sent again': once((state) => {
    const { delivery, again } = state;
    const isEnded = delivery === 'DELIVERED' || delivery === 'FAILED';
    return isEnded && again > 0 && state.endpoint === 'on' ? record({ ...state, again: again - 1 }) : null;
  }),
  /** A cleanup claims a paste again that a watchdog has released. */
  'the event happens again': once((state, { recordsAgain }) => {
    if (!recordsAgain || state.delivery === null || state.delivery === 'WAITING') return null;
    return record(state);
  }),
} satisfies Record<string, Effect>;

/** What fails. */
const faults = {
  'the endpoint refuses': ofSender('send', (state, sender, by) => settleNext(state, sender, by, 'refused')),
  'the endpoint is gone for ever': ofSender('send', (state, sender, by) =>
    settleNext(state, sender, by, 'gone'),
  ),
  'the answer of the endpoint is lost': ofSender('send', (state, sender, by) =>
    settleNext({ ...state, accepted: state.accepted + 1 }, sender, by, 'refused'),
  ),
  'a worker is stopped': ofSender('send', (state, sender, by) =>
    settleNext(state, sender, by, 'interrupted'),
  ),
  'a worker is stopped when it has sent': ofSender('send', (state, sender, by) =>
    settleNext({ ...state, accepted: state.accepted + 1 }, sender, by, 'interrupted'),
  ),
  'a worker crashes': (state, by) => (state.workers[by] ? setWorker(state, by, null) : null),
  'the answer of a settlement is lost': ofSender('settle', (state, sender, _by, rules) =>
    settle(state, sender, rules),
  ),
  'a frozen worker loses its lease': once((state) => {
    const held = state.open.find((each) => each.hasLease && isHeld(state, each));
    return held ? change(state, { ...held, hasLease: false }) : null;
  }),
  'plain SQL ends the execution': once((state) => {
    const [execution] = state.open;
    if (execution?.status !== 'RUNNING') return null;
    const { attempt, losses } = execution;
    return { ...state, open: [], stranded: { attempt, losses } };
  }),
} satisfies Record<string, Effect>;

const effects: Readonly<Record<string, Effect>> = { ...progress, ...choices, ...faults };

export const deliveryActions = Object.keys(effects);

/** Everything that can happen next. */
export function deliveryStepsFrom(state: DeliveryState, rules: DeliveryRules): readonly DeliveryStep[] {
  return deliveryActions.flatMap((name) => stepsOf(name, state, rules));
}

/** What happens next when nothing fails; null: nothing more. */
export function nextDeliveryInCalm(state: DeliveryState, rules: DeliveryRules): DeliveryStep | null {
  for (const name of Object.keys(progress)) {
    const [step] = stepsOf(name, state, rules);
    if (step !== undefined) return step;
  }
  return null;
}

function stepsOf(name: string, state: DeliveryState, rules: DeliveryRules): readonly DeliveryStep[] {
  const isFault = name in faults;
  if (isFault && state.faults === 0) return [];
  return state.workers.flatMap((_, by) => {
    const next = effects[name]?.(state, by, rules) ?? null;
    if (next === null) return [];
    return [{ name, by, state: isFault ? { ...next, faults: next.faults - 1 } : next }];
  });
}

type At<S extends Sender['step']> = Extract<Sender, { step: S }>;

/** An action of a worker that is at this step. */
function ofSender<S extends Sender['step']>(
  step: S,
  effect: (state: DeliveryState, sender: At<S>, by: number, rules: DeliveryRules) => DeliveryState,
): Effect {
  return (state, by, rules) => {
    const sender = state.workers[by];
    return sender?.step === step ? effect(state, sender as At<S>, by, rules) : null;
  };
}

function setWorker(state: DeliveryState, by: number, worker: Sender | null): DeliveryState {
  return { ...state, workers: state.workers.with(by, worker) };
}

function settleNext(
  state: DeliveryState,
  { execution, attempt, losses }: Sender,
  by: number,
  outcome: At<'settle'>['outcome'],
): DeliveryState {
  return setWorker(state, by, { execution, attempt, losses, step: 'settle', outcome });
}

function change(state: DeliveryState, execution: DeliveryExecution): DeliveryState {
  return { ...state, open: state.open.map((each) => (each.id === execution.id ? execution : each)) };
}

function isHeld({ workers }: DeliveryState, { id }: DeliveryExecution): boolean {
  return workers.some((worker) => worker?.execution === id);
}

/** Inserts a delivery and its first execution. */
function record(state: DeliveryState): DeliveryState {
  const fresh = { ...state, delivery: 'WAITING', refusals: 0, losses: 0 } as const;
  return insert(fresh, { attempt: 1, losses: 0 });
}

function insert(state: DeliveryState, { attempt, losses }: Count): DeliveryState {
  const execution = { id: state.nextId, status: 'PENDING', attempt, losses, hasLease: false } as const;
  return { ...state, open: [...state.open, execution], nextId: state.nextId + 1 };
}

/** The statement of a settlement, which also says that an endpoint is gone. */
function settle(state: DeliveryState, sender: At<'settle'>, rules: DeliveryRules): DeliveryState {
  if (!rules.settles(state, sender)) return state;
  return end(state, sender.execution, { count: sender, by: sender.outcome }, rules);
}

/** Ends an execution, and the delivery unless another attempt follows. */
function end(
  state: DeliveryState,
  id: number | null,
  { count, by }: { readonly count: Count; readonly by: EndKind },
  { nextStep, policy }: DeliveryRules,
): DeliveryState {
  const next = nextStep(outcomeOf(by), count, policy, 0.5);
  const ended: DeliveryState = {
    ...state,
    endpoint: by === 'gone' && state.endpoint === 'on' ? 'off' : state.endpoint,
    open: state.open.filter((each) => each.id !== id),
    refusals: state.refusals + (by === 'refused' ? 1 : 0),
    losses: state.losses + (by === 'lost' ? 1 : 0),
  };
  if (next.kind === 'retry')
    return insert(ended, { attempt: next.attempt, losses: count.losses + (by === 'lost' ? 1 : 0) });
  return { ...ended, delivery: next.kind === 'done' ? 'DELIVERED' : 'FAILED' };
}
