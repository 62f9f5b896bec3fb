import { pasteDeletion } from '@pasteflow/domain';
import { pasteUpload } from '@pasteflow/domain';
import { parseReason } from '@pasteflow/domain';
import { defaultRetryPolicy } from '@pasteflow/domain';
import { perform, type ActionName } from './model.ts';
import { initialState, rules, type State } from './state.ts';

/** A transition of a paste or of one of its executions, as the audit trail has it. */
export interface TrailEntry {
  readonly machine: string;
  readonly from: string;
  readonly to: string;
  readonly reason: string | null;
  /** The execution; null: the transition is one of the paste. */
  readonly execution: { readonly id: string; readonly attempt: number; readonly losses: number } | null;
}

/**
 * Whether the model has a trace that leaves this audit trail, for a paste that was never retried and has no
 * open work. For each entry the model does what leads to it. What it then did must be the trail, and the
 * paste must be as the model leaves it.
 * @returns the first difference, or null
 */
export function problemOfTrail(
  trail: readonly TrailEntry[],
  present: { readonly status: string; readonly deletion: string },
): string | null {
  const policy = { ...rules, policy: defaultRetryPolicy };
  let state = initialState({ workers: 1, faults: Infinity, retries: 0 });
  const recorded = wordsOf(trail);
  const done: string[] = [];
  for (const [n, entry] of trail.entries()) {
    for (const name of actionsTo(entry, state)) {
      const next = perform(state, { name, by: 0 }, policy);
      if (next === null) return `${recorded[n]} can't follow ${done.at(-1) ?? 'the creation'}`;
      done.push(...changes(state, next));
      state = next;
    }
  }
  const wrong = recorded.findIndex((each, n) => each !== done[n]);
  if (wrong !== -1) return `${recorded[wrong]} is recorded instead of ${done[wrong] ?? 'nothing'}`;
  if (done.length > recorded.length) return `${done[recorded.length]} is not recorded`;
  const { status, deletion } = state.paste ?? {};
  if (state.open.length > 0) return 'the last execution has no end';
  return status === present.status && deletion === present.deletion
    ? null
    : `the paste is ${present.status} and ${present.deletion} instead of ${status} and ${deletion}`;
}

const INTERRUPTIONS: readonly string[] = ['interrupted', 'database_unavailable'];
const LOSSES: readonly string[] = ['worker_lost', 'dead_letter'];

/** Actions that lead to such a transition. That of the upload has none, because it follows from another. */
function actionsTo({ machine, to, reason }: TrailEntry, state: State): readonly ActionName[] {
  if (machine === pasteUpload.name) return [];
  if (machine === pasteDeletion.name) return deletionsTo(to, state);
  const settlement = ['a worker settles', 'a worker ends with its message'] as const;
  if (to === 'RUNNING') return [...sending(state), 'a message is received'];
  if (to === 'SUCCEEDED') return ['a put succeeds', ...settlement];
  const cause = parseReason(reason ?? '').class;
  if (LOSSES.includes(cause))
    return ['a worker crashes', 'a dead worker loses its lease', 'a zombie is reaped'];
  return [INTERRUPTIONS.includes(cause) ? 'a worker is stopped' : 'a put fails', ...settlement];
}

function sending({ messages, open }: State): readonly ActionName[] {
  if (messages > 0) return [];
  return [open[0]?.dispatched ? 'a message is sent again' : 'a message is sent', 'a sender crashes'];
}

function deletionsTo(to: string, { paste }: State): readonly ActionName[] {
  if (to === 'DELETED') return ['a cleanup deletes the object', 'a deletion is settled'];
  if (to === 'NOT_EXPIRED') return ['a cleanup crashes', 'the claim of a dead cleanup is released'];
  return [
    ...(paste?.deletionRequested ? [] : ['the deletion is requested' as const]),
    'a cleanup claims the paste',
  ];
}

/** The transitions of one step of the model. */
function changes(before: State, after: State): string[] {
  const found = before.open.flatMap(({ id, status, attempt, losses }) => {
    const ended = after.paste?.status === 'PROCESSED' ? 'SUCCEEDED' : 'FAILED';
    const now = after.open.find((each) => each.id === id)?.status ?? ended;
    return now === status
      ? []
      : [words(`execution ${id} (attempt ${attempt}, losses ${losses})`, status, now)];
  });
  if (before.paste === null || after.paste === null) return found;
  if (before.paste.status !== after.paste.status)
    found.push(words(pasteUpload.name, before.paste.status, after.paste.status));
  if (before.paste.deletion !== after.paste.deletion)
    found.push(words(pasteDeletion.name, before.paste.deletion, after.paste.deletion));
  return found;
}

/** The same words for a trail, whose executions are counted. */
function wordsOf(trail: readonly TrailEntry[]): string[] {
  const ids = [...new Set(trail.flatMap(({ execution }) => execution?.id ?? []))];
  return trail.map(({ machine, from, to, execution }) => {
    if (execution === null) return words(machine, from, to);
    const { id, attempt, losses } = execution;
    return words(`execution ${ids.indexOf(id) + 1} (attempt ${attempt}, losses ${losses})`, from, to);
  });
}

const words = (what: string, from: string, to: string): string => `${what} ${from} → ${to}`;
