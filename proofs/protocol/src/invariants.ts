import { canTransition, type Machine } from '@pasteflow/domain';
import { pasteDeletion } from '@pasteflow/domain';
import { pasteUpload } from '@pasteflow/domain';
import { maxAttempts } from '@pasteflow/domain';
import { nextInCalm, type Step } from './model.ts';
import { rules as unbroken, type Rules, type State } from './state.ts';

/** What is wrong with a state, and with the step that led there. */
export function violationsOf(before: State, { action, state }: Step, rules: Rules): string[] {
  return [
    ...wrongRows(state, rules),
    ...wrongChanges(before, state),
    ...wrongEnds(before, { action, state }),
  ];
}

function wrongRows(
  { paste, open, object, mayGo, failures, losses, stranded }: State,
  { policy }: Rules,
): string[] {
  const found: string[] = [];
  const [execution] = open;
  if (!mayGo && !object && !paste?.hasPayload && !paste?.hasFailedPayload)
    found.push('the content is neither in Postgres nor in S3');
  if (open.length > 1) found.push('the paste has two open executions');
  if (execution && (execution.attempt !== failures + 1 || execution.losses !== losses))
    found.push(
      `attempt ${execution.attempt}, losses ${execution.losses} after ${failures} failures and ${losses} losses`,
    );
  if (paste === null) return open.length > 0 ? [...found, 'an execution has no paste'] : found;
  const { status, deletion, hasPayload } = paste;
  if (status === 'IN_PROGRESS' && open.length === 0 && stranded === null)
    found.push('the paste is IN_PROGRESS without an open execution');
  if (status !== 'IN_PROGRESS' && open.length > 0)
    found.push(`the paste is ${status} with an open execution`);
  if ((status === 'IN_PROGRESS') !== hasPayload)
    found.push(`the paste is ${status} ${hasPayload ? 'with' : 'without'} a payload`);
  if (status === 'IN_PROGRESS' && deletion !== 'NOT_EXPIRED')
    found.push(`the paste is IN_PROGRESS and ${deletion}`);
  if (status === 'PROCESSED' && !mayGo && !object) found.push('the paste is PROCESSED without an object');
  if (status === 'FAILED' && failures < maxAttempts(policy))
    found.push(`the paste is FAILED after ${failures} failures of S3`);
  return found;
}

/** A retry replaces the row; every other change is a transition of the tables. */
function wrongChanges(before: State, after: State): string[] {
  if (before.paste === null || after.paste === null || before.retries !== after.retries) return [];
  const changes: [Machine, string, string][] = [
    [pasteUpload, before.paste.status, after.paste.status],
    [pasteDeletion, before.paste.deletion, after.paste.deletion],
  ];
  return changes
    .filter(([machine, from, to]) => from !== to && !canTransition(machine, from, to))
    .map(([{ name }, from, to]) => `${name} went from ${from} to ${to}`);
}

const SETTLEMENTS: readonly string[] = ['a worker settles', 'the answer of a settlement is lost'];

/**
 * A worker changes rows only by the settlement of its own running execution, and only it ends an execution
 * with a lease.
 */
function wrongEnds(before: State, { action: { name, by }, state }: Step): string[] {
  const settled = SETTLEMENTS.includes(name) ? before.workers[by]?.execution : undefined;
  const owned = before.open.find(({ id, status }) => id === settled && status === 'RUNNING');
  if (
    settled !== undefined &&
    owned === undefined &&
    (before.paste !== state.paste || before.open !== state.open)
  )
    return ['a worker that had lost its execution changed rows'];
  const robbed = before.open.some(
    (each) => each.hasLease && each !== owned && !state.open.some(({ id }) => id === each.id),
  );
  return robbed && name !== 'plain SQL ends the execution'
    ? ['an execution ended while its worker had a lease']
    : [];
}

/** What is wrong with a state in which the services have nothing more to do. */
export function violationsAtRest({ paste, open, workers, messages, deadLetters, object }: State): string[] {
  const found: string[] = [];
  if (paste?.status === 'IN_PROGRESS' || open.length > 0) found.push('the upload is stuck');
  if (paste?.deletionRequested && paste.deletion !== 'DELETED') found.push('the deletion is stuck');
  if (messages + deadLetters > 0 || workers.some((each) => each !== null)) found.push('a message is left');
  if (object && !unbroken.isLive({ paste })) found.push('S3 has an object without a live row');
  return found;
}

const MAX_STEPS_IN_CALM = 200;

/** What is wrong when nothing fails any more: the services go on until they have nothing more to do. */
export function violationsInCalm(state: State, rules: Rules): string[] {
  let last = state;
  for (let steps = 0; steps < MAX_STEPS_IN_CALM; steps += 1) {
    const step = nextInCalm(last, rules);
    const found = step === null ? violationsAtRest(last) : violationsOf(last, step, rules);
    if (step === null || found.length > 0) return found;
    last = step.state;
  }
  return [`the work has not ended after ${MAX_STEPS_IN_CALM} steps without a fault`];
}
