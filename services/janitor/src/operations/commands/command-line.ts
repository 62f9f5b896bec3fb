import { commandName, type Help, type Misused, misused, parseArguments, quote } from '@pasteflow/service-kit';
import { isShortCode, isUuid, takedownClasses, type TakedownClass } from '@pasteflow/domain';
import { actionOptions, type ActionOption } from '../actions/action.ts';
import type { actionsOnRows } from '../actions/actions.ts';

/** An action that the command line asks for, with its subject as the action takes it; empty: none. */
export interface ActCommand {
  readonly kind: 'act';
  readonly action: keyof typeof actionsOnRows | 'retry-dead-letters';
  readonly subject: string;
  readonly class: TakedownClass;
  /** null: none was given. */
  readonly reason: string | null;
  /** Default: none. */
  readonly also?: readonly ActionOption[];
  readonly json: boolean;
}

/** What an action on many pastes means, which is done only with --yes. */
export interface CountCommand {
  readonly kind: 'count';
  readonly action: 'takedown-user' | 'retry-failed';
  readonly subject: string;
  readonly json: boolean;
}

export type OpsCommand =
  | { readonly kind: 'status' | 'blocks' | 'pauses'; readonly json: boolean }
  /** All pastes with open reports, or the reports of one by its short code. */
  | { readonly kind: 'reports'; readonly of: string | null; readonly json: boolean }
  /** Of a paste by its short code, or of a job by its id. */
  | { readonly kind: 'timeline'; readonly of: string; readonly json: boolean }
  | ActCommand
  | CountCommand
  /** Of the user with this id, or with exactly this name. */
  | {
      readonly kind: 'erase';
      readonly of: { readonly id: string } | { readonly name: string };
      readonly reason: string;
      readonly yes: boolean;
      readonly json: boolean;
    }
  /** null: all. */
  | { readonly kind: 'erasures'; readonly since: Date | null; readonly json: boolean }
  | { readonly kind: 'adopt-bucket'; readonly yes: boolean; readonly json: boolean }
  | { readonly kind: 'restore-objects'; readonly deletedSince: Date | null; readonly json: boolean };

export const usage = `Usage: ${commandName('ops')} COMMAND

  status               shows what needs a person, states, ages, stuck work, queues and sweeps
  timeline CODE        shows what happened to a paste; takes the id of a job, too
  retry CODE           uploads a FAILED paste again, or retries a job by its id; with --all-failed-since TIME
                       instead of CODE shows how many pastes failed since then, and with --yes retries them
  cancel JOB           ends a job that waits or runs; what it has made stays
  retry-dead-letters   moves dead letters back to the queues that they came from
  reports              lists the pastes with open reports; with CODE shows the reports of a paste, and how its
                       content begins
  uphold CODE --reason TEXT
                       ends the reports of a paste, and takes it down; with --block blocks its content, and with
                       --end-tokens revokes all tokens of its user
  reject CODE --reason TEXT
                       ends the reports of a paste, and of others with its content, which stays
  takedown CODE --reason TEXT
                       takes a paste down: readers get 451, and its content is deleted; with --user ID instead
                       of CODE shows how many pastes the user has, and with --yes takes them all down
  block HASH --reason TEXT
                       refuses the content with this SHA-256; takes the code of a paste, too. unblock HASH
                       --reason TEXT lifts the block, and blocks lists those in force
  pause KIND --reason TEXT
                       begins nothing more of this kind: uploads, or a type of jobs such as export; resume KIND
                       goes on, and pauses lists the kinds
  erase NAME --reason TEXT
                       shows what the user with exactly this name has, and with --yes erases the user: first the
                       tokens and the name, and then pastes, jobs and archives, for ever; takes --user ID
                       instead of NAME
  erasures             lists the ids of erased users, to erase them again after a restore; --since
                       2026-11-22T03:00Z leaves earlier erasures out
  adopt-bucket         shows to which database the bucket belongs; with --yes gives it to this one
  restore-objects      restores wrongly deleted objects from the versions that the bucket keeps;
                       --deleted-since 2026-11-22T03:00Z leaves earlier deletions alone

  --json   prints JSON, for programs
  --all-failed-since TIME   for retry: e.g. 2026-11-22T04:00:00Z
  --reason TEXT             for retry: why; the timelines of the pastes show it, also to their owners
                            for cancel: why; the owner of the job reads it
                            for takedown, block, unblock, uphold, reject, pause, resume, erase: why; for operators only
  --class CLASS             for takedown, block, uphold: the class that readers see; ${takedownClasses.join(', ')}.
                            Default: other

The environment names the database, the bucket and the queues, as for a janitor.
`;

const options = {
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  yes: { type: 'boolean' },
  'deleted-since': { type: 'string' },
  'all-failed-since': { type: 'string' },
  since: { type: 'string' },
  reason: { type: 'string' },
  class: { type: 'string' },
  user: { type: 'string' },
  block: { type: 'boolean' },
  'end-tokens': { type: 'boolean' },
} as const;

const reasoned = [
  'retry',
  'cancel',
  'takedown',
  'block',
  'unblock',
  'uphold',
  'reject',
  'pause',
  'resume',
  'erase',
];

/** Which commands take an option, as in the message of a command that does not. */
const takenBy = [
  ['all-failed-since', ['retry'], 'retry'],
  ['user', ['takedown', 'erase'], 'takedown and erase'],
  ['reason', reasoned, reasoned.join(', ')],
  ['class', ['takedown', 'block', 'uphold'], 'takedown, block and uphold'],
  ['block', ['uphold'], 'uphold'],
  ['end-tokens', ['uphold'], 'uphold'],
  ['deleted-since', ['restore-objects'], 'restore-objects'],
  ['since', ['erasures'], 'erasures'],
] as const satisfies readonly (readonly [keyof typeof options, readonly string[], string])[];

export function parseOpsCommand(args: readonly string[]): OpsCommand | Help | Misused {
  const parsed = parseArguments(args, options);
  if (parsed.kind === 'misused') return parsed;
  const { values, positionals } = parsed;
  if (values.help === true) return { kind: 'help' };
  const [name = '', argument = '', ...more] = positionals;
  const { reason = null, user, yes = false, json = false } = values;
  const failedSince = values['all-failed-since'];
  if (yes && !['adopt-bucket', 'erase'].includes(name) && failedSince === undefined && user === undefined)
    return misused('--yes is only for adopt-bucket, erase, retry --all-failed-since and takedown --user');
  for (const [option, names, text] of takenBy)
    if (values[option] !== undefined && !names.some((each) => each === name))
      return misused(`--${option} is only for ${text}`);
  const why = takedownClasses.find((each) => each === (values.class ?? 'other'));
  if (why === undefined) return misused(`--class is one of ${takedownClasses.join(', ')}`);
  const subject = more.length === 0 ? subjectOf(argument) : null;
  const act = (action: ActCommand['action'], of: string): ActCommand => ({
    kind: 'act',
    action,
    subject: of,
    class: why,
    reason,
    json,
  });
  const actOrCount = (action: CountCommand['action'], of: string) =>
    yes ? act(action, of) : ({ kind: 'count', action, subject: of, json } as const);

  switch (name) {
    case '':
      return misused('the command is missing');
    case 'status':
    case 'blocks':
    case 'pauses':
    case 'retry-dead-letters':
    case 'adopt-bucket':
    case 'restore-objects':
    case 'erasures':
      if (positionals.length > 1) return misused(`${name} takes no further arguments`);
      if (name === 'retry-dead-letters') return act(name, '');
      if (name === 'adopt-bucket') return { kind: name, yes, json };
      if (name === 'restore-objects') {
        const deletedSince = timeOf(values['deleted-since']);
        return deletedSince === undefined
          ? misused('--deleted-since takes a time such as 2026-11-22T03:00Z')
          : { kind: name, deletedSince, json };
      }
      if (name === 'erasures') {
        const since = timeOf(values.since);
        return since === undefined
          ? misused('--since takes a time such as 2026-11-22T03:00Z')
          : { kind: name, since, json };
      }
      return { kind: name, json };
    case 'reports':
      if (positionals.length === 1) return { kind: 'reports', of: null, json };
      return isShortCode(subject ?? '')
        ? { kind: 'reports', of: subject, json }
        : misused('reports takes no argument, or the short code of a paste');
    case 'timeline':
      return subject === null
        ? misused('timeline takes the short code of a paste or the id of a job')
        : { kind: 'timeline', of: subject, json };
    case 'erase':
      if (
        (argument === '') === (user === undefined) ||
        more.length > 0 ||
        (user !== undefined && !isUuid(user))
      )
        return misused('erase takes the name of a user, or --user with the id of a user');
      if (reason === null || reason.trim() === '') return misused('erase needs --reason with a text');
      return {
        kind: 'erase',
        of: user === undefined ? { name: argument } : { id: user.toLowerCase() },
        reason,
        yes,
        json,
      };
    case 'cancel':
      return subject !== null && isUuid(subject)
        ? act('cancel-job', subject)
        : misused('cancel takes the id of a job');
    case 'retry': {
      const since = failedSince === undefined ? null : new Date(failedSince);
      if (since !== null && positionals.length === 1 && !Number.isNaN(since.getTime()))
        return actOrCount('retry-failed', `since ${since.toISOString()}`);
      if (since === null && subject !== null)
        return act(isShortCode(subject) ? 'retry' : 'retry-job', subject);
      return misused(
        'retry takes the short code of a paste, the id of a job, or --all-failed-since with a time such as 2026-11-22T04:00Z',
      );
    }
    case 'pause':
    case 'resume':
      if (argument === '' || more.length > 0)
        return misused(`${name} takes a kind of work, such as uploads or export`);
      if (name === 'pause' && (reason === null || reason.trim() === ''))
        return misused('pause needs --reason with a text');
      return act(name, argument);
    case 'takedown':
    case 'uphold':
    case 'reject':
    case 'block':
    case 'unblock': {
      if (reason === null || reason.trim() === '') return misused(`${name} needs --reason with a text`);
      if (name === 'uphold' || name === 'reject') {
        if (!isShortCode(subject ?? '')) return misused(`${name} takes the short code of a paste`);
        const also = actionOptions.filter((option) => values[option] === true);
        return { ...act(name, subject ?? ''), ...(also.length > 0 && { also }) };
      }
      if (name !== 'takedown') {
        const content = more.length === 0 ? contentOf(argument) : null;
        return content === null
          ? misused(`${name} takes a SHA-256 in hex, or the short code of a paste`)
          : act(name, content);
      }
      const userId = user?.toLowerCase() ?? '';
      if (positionals.length === 1 && isUuid(userId)) return actOrCount('takedown-user', userId);
      return user === undefined && isShortCode(subject ?? '')
        ? act('takedown', subject ?? '')
        : misused('takedown takes the short code of a paste, or --user with the id of a user');
    }
    default:
      return misused(`${quote(name)} is not a command`);
  }
}

/** null: none was given; undefined: it is no time. */
function timeOf(text: string | undefined): Date | null | undefined {
  if (text === undefined) return null;
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? undefined : time;
}

/** A short code, the URL of a paste, which ends with its code, or the id of a job. */
function subjectOf(text: string): string | null {
  const last = text.split('/').at(-1) ?? '';
  const id = last.toLowerCase();
  if (isUuid(id)) return id;
  return isShortCode(last) ? last : null;
}

/** A hash, whose `sha256:` may be left out, or a paste with the content. */
function contentOf(text: string): string | null {
  const hex = text.toLowerCase().replace(/^sha256:/, '');
  if (/^[0-9a-f]{64}$/.test(hex)) return `sha256:${hex}`;
  const subject = subjectOf(text);
  return subject !== null && isShortCode(subject) ? subject : null;
}
