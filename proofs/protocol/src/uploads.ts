import {
  actions,
  type Count,
  type Effect,
  type Execution,
  insertExecution,
  once,
  type Rules,
  type State,
  type UploadOutcomeKind,
  type Worker,
} from './state.ts';

/** How many messages are in the queue or with workers at the most. */
const MAX_MESSAGES = 2;

/** What the workers, the relay, the reaper, the rescue and time do for an upload while nothing fails. */
export const uploadProgress = actions({
  'a late put is executed': once((state) =>
    state.latePuts > 0 ? { ...state, object: true, latePuts: state.latePuts - 1 } : null,
  ),
  'a worker ends with its message': ofWorker('answer', (state, worker, by, rules) =>
    worker.acknowledges ? setWorker(state, by, null) : letGo(state, worker, by, rules),
  ),
  'a worker settles': ofWorker('settle', (state, worker, by, rules) => {
    const { settled, acknowledges } = settle(state, worker, rules);
    return setWorker(settled, by, { ...worker, step: 'answer', acknowledges });
  }),
  'a put succeeds': ofWorker('put', (state, worker, by) =>
    setWorker({ ...state, object: true }, by, { ...worker, step: 'settle', outcome: 'succeeded' }),
  ),
  'a worker renews its lease': (state, by) => {
    const own = state.open.find(({ id }) => id === state.workers[by]?.execution);
    return own?.status === 'RUNNING' && !own.hasLease ? change(state, { ...own, hasLease: true }) : null;
  },
  'a message is stamped': once((state) => {
    if (state.sender === null) return null;
    const sent = state.open.find(({ id, status }) => id === state.sender && status === 'PENDING');
    return { ...(sent ? change(state, { ...sent, dispatched: true }) : state), sender: null };
  }),
  'a dead worker loses its lease': once((state) => {
    const left = state.open.find((each) => each.hasLease && !isHeld(state, each));
    return left ? change(state, { ...left, hasLease: false }) : null;
  }),
  'a zombie is reaped': once((state, rules) => {
    const zombie = state.open.find(rules.reaps);
    return zombie
      ? endAttempt(state, zombie.id, { count: zombie, outcome: 'lost', dispatched: false }, rules)
      : null;
  }),
  'stranded work is rescued': once((state, rules) => {
    const { stranded } = state;
    if (stranded === null || state.open.length > 0) return null;
    return endAttempt(
      { ...state, stranded: null },
      null,
      { count: stranded, outcome: 'lost', dispatched: false },
      rules,
    );
  }),
  'a message is sent': once((state, { isUnsent }) => send(state, isUnsent)),
  'a message is received': (state, by, rules) => {
    if (state.messages === 0 || state.workers.indexOf(null) !== by) return null;
    return receive({ ...state, messages: state.messages - 1 }, by, 'message', rules);
  },
  'a dead letter is received': (state, by, rules) =>
    state.deadLetters > 0 && state.workers.indexOf(null) === by
      ? receive({ ...state, deadLetters: state.deadLetters - 1 }, by, 'dead letter', rules)
      : null,
  'a message is sent again': once((state, { isOverdue }) =>
    state.messages === 0 ? send(state, isOverdue) : null,
  ),
});

/** What fails. */
export const uploadFaults = actions({
  'a put fails': ofWorker('put', failPut),
  'the answer of a put is lost': ofWorker('put', (state, ...rest) =>
    failPut({ ...state, object: true }, ...rest),
  ),
  'a put hangs': ofWorker('put', (state, ...rest) =>
    failPut({ ...state, latePuts: state.latePuts + 1 }, ...rest),
  ),
  'a worker is stopped': ofWorker('put', (state, worker, by) =>
    setWorker({ ...state, latePuts: state.latePuts + 1 }, by, {
      ...worker,
      step: 'settle',
      outcome: 'interrupted',
    }),
  ),
  'a worker crashes': (state, by, rules) => {
    const worker = state.workers[by];
    if (!worker) return null;
    return letGo({ ...state, latePuts: state.latePuts + (worker.step === 'put' ? 1 : 0) }, worker, by, rules);
  },
  'the answer of a settlement is lost': ofWorker(
    'settle',
    (state, worker, _by, rules) => settle(state, worker, rules).settled,
  ),
  'a frozen worker loses its lease': once((state) => {
    const held = state.open.find((each) => each.hasLease && isHeld(state, each));
    return held ? change(state, { ...held, hasLease: false }) : null;
  }),
  'a message is delivered twice': (state, by) => {
    if (state.workers[by]?.message !== 'message' || messagesOf(state) >= MAX_MESSAGES) return null;
    return { ...state, messages: state.messages + 1 };
  },
  'a message is lost': once((state) =>
    state.messages > 0 ? { ...state, messages: state.messages - 1 } : null,
  ),
  'a message is received too often': once((state) =>
    state.messages > 0
      ? { ...state, messages: state.messages - 1, deadLetters: state.deadLetters + 1 }
      : null,
  ),
  'a sender crashes': once((state) => (state.sender === null ? null : { ...state, sender: null })),
  'plain SQL ends the execution': once((state) => {
    const [execution] = state.open;
    if (execution?.status !== 'RUNNING') return null;
    const { attempt, losses } = execution;
    return { ...state, open: [], stranded: { attempt, losses } };
  }),
});

type Step = Worker['step'];
type At<S extends Step> = Extract<Worker, { step: S }>;

/** An action of a worker that is at this step. */
function ofWorker<S extends Step>(
  step: S,
  effect: (state: State, worker: At<S>, by: number, rules: Rules) => State,
): Effect {
  return (state, by, rules) => {
    const worker = state.workers[by];
    return worker?.step === step ? effect(state, worker as At<S>, by, rules) : null;
  };
}

function setWorker(state: State, by: number, worker: Worker | null): State {
  return { ...state, workers: state.workers.with(by, worker) };
}

function change(state: State, execution: Execution): State {
  return { ...state, open: state.open.map((each) => (each.id === execution.id ? execution : each)) };
}

function isHeld({ workers }: State, { id }: Execution): boolean {
  return workers.some((worker) => worker?.execution === id);
}

function messagesOf({ messages, workers }: State): number {
  return messages + workers.filter((worker) => worker?.message === 'message').length;
}

function send(state: State, isWanted: (execution: Execution) => boolean): State | null {
  const execution = state.open.find(isWanted);
  if (execution === undefined || state.sender !== null || messagesOf(state) >= MAX_MESSAGES) return null;
  return { ...state, messages: state.messages + 1, sender: execution.id };
}

/**
 * The claim. A message of work that runs elsewhere is returned, so that nothing has happened. One of work
 * that has ended is acknowledged, and so is a dead letter without due work.
 */
function receive(state: State, by: number, message: Worker['message'], rules: Rules): State | null {
  const execution = state.open.find(({ status }) => status === 'PENDING');
  if (execution === undefined) return message === 'message' && state.open.length > 0 ? null : state;
  const { id, attempt, losses } = execution;
  const claimed = change(state, { ...execution, status: 'RUNNING', dispatched: true, hasLease: true });
  const worker = { execution: id, attempt, losses, message };
  return setWorker(
    rules.deletesPayload('claim') ? deletePayload(claimed) : claimed,
    by,
    message === 'dead letter' ? { ...worker, step: 'settle', outcome: 'lost' } : { ...worker, step: 'put' },
  );
}

/** A worker is done with its message, or dead: the message comes back. */
function letGo(state: State, { message }: Worker, by: number, { acknowledgesFirst }: Rules): State {
  const free = setWorker(state, by, null);
  if (acknowledgesFirst) return free;
  return message === 'message'
    ? { ...free, messages: free.messages + 1 }
    : { ...free, deadLetters: free.deadLetters + 1 };
}

/** Before the upload is given up, the worker asks S3 for the object. */
function failPut(state: State, worker: Worker, by: number, { nextStep, policy }: Rules): State {
  const next = nextStep({ kind: 'failed', error: '' }, worker, policy, 0.5);
  const outcome = next.kind === 'give_up' && state.object ? 'succeeded' : 'failed';
  return setWorker(state, by, { ...worker, step: 'settle', outcome });
}

/** The statement of a settlement, and what follows for the message. */
function settle(state: State, worker: At<'settle'>, rules: Rules): { settled: State; acknowledges: boolean } {
  const { message, outcome } = worker;
  const isDeadLetter = message === 'dead letter';
  if (!rules.settles(state, worker)) return { settled: state, acknowledges: isDeadLetter };
  const settled = endAttempt(
    state,
    worker.execution,
    { count: worker, outcome, dispatched: !isDeadLetter },
    rules,
  );
  return { settled, acknowledges: isDeadLetter || settled.paste?.status !== 'IN_PROGRESS' };
}

interface End {
  readonly count: Count;
  readonly outcome: UploadOutcomeKind;
  /** Whether the successor counts as dispatched. */
  readonly dispatched: boolean;
}

/** Ends an execution, and the upload unless another attempt follows. */
function endAttempt(
  state: State,
  id: number | null,
  { count, outcome, dispatched }: End,
  rules: Rules,
): State {
  const isLoss = outcome === 'lost';
  const next = rules.nextStep({ kind: outcome, error: '' }, count, rules.policy, 0.5);
  const kept = rules.deletesPayload(next.kind) ? deletePayload(state) : state;
  const ended = {
    ...kept,
    open: state.open.filter((each) => each.id !== id),
    failures: state.failures + (outcome === 'failed' ? 1 : 0),
    losses: state.losses + (isLoss ? 1 : 0),
  };
  if (next.kind === 'retry')
    return insertExecution(
      ended,
      { attempt: next.attempt, losses: count.losses + (isLoss ? 1 : 0) },
      dispatched,
    );
  if (ended.paste?.status !== 'IN_PROGRESS') return ended;
  const isStored = next.kind === 'done';
  const status = isStored ? 'PROCESSED' : 'FAILED';
  return { ...ended, paste: { ...ended.paste, status, hasFailedPayload: !isStored } };
}

function deletePayload(state: State): State {
  return { ...state, paste: state.paste && { ...state.paste, hasPayload: false } };
}
