import { commandName, formatDuration, formatMillisecond, toOneLine } from '@pasteflow/service-kit';
import { counted } from './counted.ts';
import type { Status } from './read-status.ts';

/** Something that goes on until a person settles it. `ops status` and the operations page begin with these. */
export interface Need {
  /** For programs. */
  readonly what: string;
  /** How many, since when and why: one line, without a full stop. */
  readonly text: string;
  /** What helps, as a command; null: there is none. */
  readonly command: string | null;
  /** The page with more about it, below the address of the operations page; null: the overview says all. */
  readonly page: string | null;
  /** What helps, as an action of the operations page; null: there is none. */
  readonly action: NeededAction | null;
}

interface NeededAction {
  readonly name: string;
  /** null: the action has none. */
  readonly subject: string | null;
  /** Of the button. */
  readonly label: string;
}

/** What is the matter of one kind, or nothing. */
type FindNeeds = (status: Status) => readonly Need[];

/** The kinds, in the order in which they are shown: a new line of the status is one more function here. */
const kinds: readonly FindNeeds[] = [
  failedUploads,
  refusedUploads,
  refusedRows,
  pausedWork,
  reportedPastes,
  waitingErasures,
  stuckWork,
  lostWork,
  deadLetters,
  silentQueues,
  overdueSweeps,
];

export function needsOf(status: Status): readonly Need[] {
  return kinds.flatMap((find) => find(status));
}

/** What most needs don't have. */
const none = { command: null, page: null, action: null } as const;

function failedUploads({ failed, at }: Status): readonly Need[] {
  const [first, ...others] = failed;
  if (first === undefined) return [];
  const count = failed.reduce((sum, each) => sum + each.count, 0);
  const oldest = new Date(Math.min(...failed.map((each) => each.oldest_at.getTime())));
  const more = others.length === 0 ? '' : `; ${counted(others.length, 'other reason')}`;
  return [
    {
      what: 'failed_uploads',
      text: `${counted(count, 'upload')} failed, the first ${age(at, oldest)} ago: ${toOneLine(first.reason)}${more}`,
      command: `${commandName('ops')} retry --all-failed-since ${oldest.toISOString()}`,
      page: '/failed',
      action: { name: 'retry-failed', subject: null, label: 'Retry' },
    },
  ];
}

function refusedUploads({ refused }: Status): readonly Need[] {
  return refused.map(({ answer, count }) => ({
    ...none,
    what: 'refused_uploads',
    text: `${count} of the oldest uploads wait, because S3 refuses all of them: ${toOneLine(answer)}`,
  }));
}

/** Rows that stop no sweep, and that none can change. */
function refusedRows({ sweeps }: Status): readonly Need[] {
  return sweeps.flatMap(({ sweep, refused }) =>
    refused.map(({ row, error, failures }) => ({
      ...none,
      what: 'refused_row',
      text: `Postgres has refused ${row} of the sweep ${sweep} ${counted(failures, 'time')}: ${toOneLine(error)}`,
    })),
  );
}

function pausedWork({ paused }: Status): readonly Need[] {
  return paused.map(({ kind, paused_at: since, paused_by: by, pause_reason: reason }) => ({
    ...none,
    what: 'paused_work',
    text: `${kind} paused since ${formatMillisecond(since)} by ${toOneLine(by ?? '')}: ${toOneLine(reason ?? '')}`,
    command: `${commandName('ops')} resume ${kind}`,
    action: { name: 'resume', subject: kind, label: 'Resume' },
  }));
}

function reportedPastes({ reported: { pastes, held, oldest_at: oldest }, at }: Status): readonly Need[] {
  if (oldest === null) return [];
  return [
    {
      ...none,
      what: 'reported_pastes',
      text: `${counted(pastes, 'reported paste')} to judge, ${held} of them held; the oldest report is ${age(at, oldest)} old`,
      command: `${commandName('ops')} reports`,
      page: '/reports',
    },
  ];
}

/** The sweep ends an erasure within minutes. */
const ERASURE_TAKES_SECONDS = 3600;

function waitingErasures({ states }: Status): readonly Need[] {
  const open = states.filter(({ machine, count }) => machine === 'erasure' && count > 0);
  const oldest = Math.max(0, ...open.map(({ oldest_seconds: seconds }) => seconds ?? 0));
  if (oldest < ERASURE_TAKES_SECONDS) return [];
  const count = open.reduce((sum, each) => sum + each.count, 0);
  return [
    {
      ...none,
      what: 'waiting_erasures',
      text: `${counted(count, 'erasure')} not done, the oldest for ${formatDuration(oldest)}`,
      command: `${commandName('janitor')} --once erasures`,
      action: { name: 'run-sweep', subject: 'erasures', label: 'Run the sweep' },
    },
  ];
}

/** The janitor frees what is stuck within a minute. */
const STUCK_SECONDS = 60;

function stuckWork({ stuck }: Status): readonly Need[] {
  const [longest, ...others] = stuck
    .filter(({ seconds }) => seconds > STUCK_SECONDS)
    .toSorted((a, b) => b.seconds - a.seconds);
  if (longest === undefined) return [];
  const more = others.length === 0 ? '' : `, and ${others.length} more`;
  return [
    {
      ...none,
      what: 'stuck_work',
      text: `${longest.subject} stuck for ${formatDuration(longest.seconds)} (${longest.what})${more}`,
      command: `${commandName('ops')} timeline ${longest.subject}`,
      page: `/find?q=${encodeURIComponent(longest.subject)}`,
    },
  ];
}

function lostWork({ lost }: Status): readonly Need[] {
  const [worst, ...others] = lost;
  if (worst === undefined) return [];
  const more = others.length === 0 ? '' : `, and ${others.length} more`;
  return [
    {
      ...none,
      what: 'lost_work',
      text: `${worst.subject} lost ${counted(worst.losses, 'worker')}${more}`,
      command: `${commandName('ops')} timeline ${worst.subject}`,
      page: `/find?q=${encodeURIComponent(worst.subject)}`,
    },
  ];
}

function deadLetters({ queues }: Status): readonly Need[] {
  return queues
    .filter(({ queue, visible }) => queue.endsWith('-dead-letters') && (visible ?? 0) > 0)
    .map(({ queue, visible }) => ({
      ...none,
      what: 'dead_letters',
      text: `${counted(visible ?? 0, 'dead letter')} in ${queue}`,
      command: `${commandName('ops')} retry-dead-letters`,
      action: { name: 'retry-dead-letters', subject: null, label: 'Move back' },
    }));
}

function silentQueues({ queues }: Status): readonly Need[] {
  const failing = queues.find(({ error }) => error !== null);
  return failing === undefined
    ? []
    : [{ ...none, what: 'silent_queue', text: `${failing.queue}: ${toOneLine(failing.error ?? '')}` }];
}

/** That many are not late for reasons of their own. */
const MANY_SWEEPS = 4;

function overdueSweeps({ sweeps, at }: Status): readonly Need[] {
  const late = sweeps.filter(({ overdue }) => overdue);
  if (late.length >= MANY_SWEEPS)
    return [
      { ...none, what: 'overdue_sweeps', text: `${late.length} sweeps overdue: no janitor may be running` },
    ];
  return late.map(({ sweep, outcome, last_success_at: last }) => ({
    ...none,
    what: 'overdue_sweep',
    text: `The sweep ${sweep} ${last === null ? 'has never succeeded' : `last succeeded ${age(at, last)} ago`}${outcome === 'failed' ? ', and its last run failed' : ''}`,
    command: `${commandName('janitor')} --once ${sweep}`,
    action: { name: 'run-sweep', subject: sweep, label: 'Run it' },
  }));
}

const age = (at: Date, since: Date): string =>
  formatDuration(Math.max(0, (at.getTime() - since.getTime()) / 1000));
