import { type Help, type Misused, misused, parseArguments, quote } from '@pasteflow/service-kit';
import { isShortCode, isUuid, takedownClasses, type TakedownClass } from '@pasteflow/domain';
import type { BlockedContent } from './block-content.ts';
import type { RetryWhich } from './retry-failed.ts';
import type { TakedownWhich } from './take-down.ts';

/** The paste or the job of a timeline. */
export type Subject =
  | { readonly kind: 'paste'; readonly shortCode: string }
  | { readonly kind: 'job'; readonly id: string };

export type OpsCommand =
  | { readonly kind: 'status'; readonly json: boolean }
  | { readonly kind: 'timeline'; readonly of: Subject; readonly json: boolean }
  | {
      readonly kind: 'retry';
      readonly which: RetryWhich;
      readonly reason: string | null;
      readonly json: boolean;
    }
  | {
      readonly kind: 'cancel';
      readonly jobId: string;
      readonly reason: string | null;
      readonly json: boolean;
    }
  | { readonly kind: 'retry-dead-letters'; readonly json: boolean }
  | ({ readonly kind: 'takedown'; readonly which: TakedownWhich } & Why)
  | ({ readonly kind: 'block'; readonly content: BlockedContent } & Why)
  | ({ readonly kind: 'unblock'; readonly content: BlockedContent } & Omit<Why, 'class'>)
  | { readonly kind: 'blocks'; readonly json: boolean }
  | { readonly kind: 'adopt-bucket'; readonly yes: boolean; readonly json: boolean }
  | { readonly kind: 'restore-objects'; readonly deletedSince: Date | null; readonly json: boolean };

interface Why {
  readonly class: TakedownClass;
  readonly reason: string;
  readonly json: boolean;
}

export const usage = `Usage:
  npm run ops -- status               shows states, ages, stuck work, queues and sweeps
  npm run ops -- timeline CODE        shows what happened to a paste; takes the id of a job, too
  npm run ops -- retry CODE           uploads a FAILED paste again; with --all-failed-since TIME instead of CODE shows how
                                      many failed since then, and with --yes retries them
  npm run ops -- cancel JOB           ends a job that waits or runs; what it has made stays
  npm run ops -- retry-dead-letters   moves dead letters back to the queues that they came from
  npm run ops -- takedown CODE --reason TEXT
                                      takes a paste down: readers get 451, and its content is deleted; with --user ID instead
                                      of CODE shows how many pastes the user has, and with --yes takes them all down
  npm run ops -- block HASH --reason TEXT
                                      refuses the content with this SHA-256; takes the code of a paste, too. unblock HASH
                                      --reason TEXT lifts the block, and blocks lists those in force
  npm run ops -- adopt-bucket         shows to which database the bucket belongs; with --yes gives it to this one
  npm run ops -- restore-objects      restores wrongly deleted objects from the versions that the bucket keeps;
                                      --deleted-since 2026-11-22T03:00Z leaves earlier deletions alone

  --json   prints JSON, for programs
  --all-failed-since TIME   for retry: e.g. 2026-11-22T04:00:00Z
  --reason TEXT             for retry: why; the timelines of the pastes show it, also to their owners
                            for cancel: why; the owner of the job reads it
                            for takedown, block, unblock: why; for operators only
  --class CLASS             for takedown, block: the class that readers see; ${takedownClasses.join(', ')}.
                            Default: other

The environment names the database, the bucket and the queues, as for a janitor. When it names neither, \`npm run ops\` uses those
of a running \`npm start\` or \`npm run stack\`.
`;

const options = {
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  yes: { type: 'boolean' },
  'deleted-since': { type: 'string' },
  'all-failed-since': { type: 'string' },
  reason: { type: 'string' },
  class: { type: 'string' },
  user: { type: 'string' },
} as const;

const withReason: ReadonlySet<string> = new Set(['retry', 'cancel', 'takedown', 'block', 'unblock']);

export function parseOpsCommand(args: readonly string[]): OpsCommand | Help | Misused {
  const parsed = parseArguments(args, options);
  if (parsed.kind === 'misused') return parsed;
  const { values, positionals } = parsed;
  if (values.help === true) return { kind: 'help' };
  const json = values.json === true;
  const [name, ...rest] = positionals;
  const since = values['deleted-since'];
  const wanted = values['all-failed-since'];
  if (values.yes === true && name !== 'adopt-bucket' && wanted === undefined && values.user === undefined)
    return misused('--yes is only for adopt-bucket, retry --all-failed-since and takedown --user');
  if (wanted !== undefined && name !== 'retry') return misused('--all-failed-since is only for retry');
  if (values.user !== undefined && name !== 'takedown') return misused('--user is only for takedown');
  if (values.reason !== undefined && !withReason.has(name ?? ''))
    return misused(`--reason is only for ${[...withReason].join(', ')}`);
  if (values.class !== undefined && name !== 'takedown' && name !== 'block')
    return misused('--class is only for takedown and block');
  if (since !== undefined && name !== 'restore-objects')
    return misused('--deleted-since is only for restore-objects');
  switch (name) {
    case 'status':
    case 'retry-dead-letters':
    case 'blocks':
      return rest.length === 0 ? { kind: name, json } : misused(`${name} takes no further arguments`);
    case 'timeline': {
      const of = rest.length === 1 ? parseSubject(rest[0] ?? '') : null;
      return of === null
        ? misused('timeline takes the short code of a paste or the id of a job')
        : { kind: 'timeline', of, json };
    }
    case 'cancel': {
      const of = rest.length === 1 ? parseSubject(rest[0] ?? '') : null;
      return of?.kind === 'job'
        ? { kind: 'cancel', jobId: of.id, reason: values.reason ?? null, json }
        : misused('cancel takes the id of a job');
    }
    case 'adopt-bucket':
      return rest.length === 0
        ? { kind: name, yes: values.yes === true, json }
        : misused(`${name} takes no further arguments`);
    case 'restore-objects': {
      const deletedSince = since === undefined ? null : new Date(since);
      if (rest.length > 0) return misused(`${name} takes no further arguments`);
      if (deletedSince !== null && Number.isNaN(deletedSince.getTime()))
        return misused('--deleted-since takes a time such as 2026-11-22T03:00Z');
      return { kind: name, deletedSince, json };
    }
    case 'retry': {
      const which = parseWhich(rest, wanted, values.yes === true);
      return which === null
        ? misused(
            'retry takes the short code of a paste, or --all-failed-since with a time such as 2026-11-22T04:00Z',
          )
        : { kind: 'retry', which, reason: values.reason ?? null, json };
    }
    case 'takedown':
    case 'block':
    case 'unblock':
      return parseTakedown(name, rest, values, json);
    case undefined:
      return misused('the command is missing');
    default:
      return misused(`${quote(name)} is not a command`);
  }
}

function parseTakedown(
  kind: 'takedown' | 'block' | 'unblock',
  rest: readonly string[],
  { class: wanted = 'other', reason, user, yes }: TakedownValues,
  json: boolean,
): OpsCommand | Misused {
  const why = takedownClasses.find((each) => each === wanted);
  if (why === undefined) return misused(`--class is one of ${takedownClasses.join(', ')}`);
  if (reason === undefined || reason.trim() === '') return misused(`${kind} needs --reason with a text`);
  if (kind === 'takedown') {
    const which = parseTakedownWhich(rest, user, yes === true);
    return which === null
      ? misused('takedown takes the short code of a paste, or --user with the id of a user')
      : { kind, which, class: why, reason, json };
  }
  const content = rest.length === 1 ? parseContent(rest[0] ?? '') : null;
  if (content === null) return misused(`${kind} takes a SHA-256 in hex, or the short code of a paste`);
  return kind === 'block' ? { kind, content, class: why, reason, json } : { kind, content, reason, json };
}

interface TakedownValues {
  readonly class?: string | undefined;
  readonly reason?: string | undefined;
  readonly user?: string | undefined;
  readonly yes?: boolean | undefined;
}

function parseTakedownWhich(
  rest: readonly string[],
  user: string | undefined,
  yes: boolean,
): TakedownWhich | null {
  if (user !== undefined)
    return rest.length === 0 && isUuid(user.toLowerCase())
      ? { kind: 'user', userId: user.toLowerCase(), yes }
      : null;
  const of = rest.length === 1 ? parseSubject(rest[0] ?? '') : null;
  return of?.kind === 'paste' ? { kind: 'one', shortCode: of.shortCode } : null;
}

/** `sha256:` before the hash may be left out. */
function parseContent(text: string): BlockedContent | null {
  const hex = text.toLowerCase().replace(/^sha256:/, '');
  if (/^[0-9a-f]{64}$/.test(hex)) return { kind: 'hash', contentHash: `sha256:${hex}` };
  const of = parseSubject(text);
  return of?.kind === 'paste' ? of : null;
}

function parseWhich(rest: readonly string[], since: string | undefined, yes: boolean): RetryWhich | null {
  if (since !== undefined) {
    const time = new Date(since);
    return rest.length === 0 && !Number.isNaN(time.getTime()) ? { kind: 'since', since: time, yes } : null;
  }
  const of = rest.length === 1 ? parseSubject(rest[0] ?? '') : null;
  return of?.kind === 'paste' ? { kind: 'one', shortCode: of.shortCode } : null;
}

/** Takes the URL of a paste, too: it ends with the short code. */
function parseSubject(text: string): Subject | null {
  const last = text.split('/').at(-1) ?? '';
  const id = last.toLowerCase();
  if (isUuid(id)) return { kind: 'job', id };
  return isShortCode(last) ? { kind: 'paste', shortCode: last } : null;
}
