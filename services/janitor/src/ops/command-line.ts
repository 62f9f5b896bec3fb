import { misused, parseArguments, quote, type Help, type Misused } from '@pasteflow/command-line';
import { isShortCode, isUuid } from '@pasteflow/domain';
import type { RetryWhich } from './retry-failed.ts';

/** The paste or the job of a timeline. */
export type Subject =
  { readonly kind: 'paste'; readonly shortCode: string } | { readonly kind: 'job'; readonly id: string };

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
  | { readonly kind: 'adopt-bucket'; readonly yes: boolean; readonly json: boolean }
  | { readonly kind: 'restore-objects'; readonly deletedSince: Date | null; readonly json: boolean };

export const usage = `Usage:
  npm run ops -- status               shows states, ages, stuck work, queues and sweeps
  npm run ops -- timeline CODE        shows what happened to a paste; takes the id of a job, too
  npm run ops -- retry CODE           uploads a FAILED paste again; with --all-failed-since TIME instead of CODE shows how
                                      many failed since then, and with --yes retries them
  npm run ops -- cancel JOB           ends a job that waits or runs; what it has made stays
  npm run ops -- retry-dead-letters   moves dead letters back to the queues that they came from
  npm run ops -- adopt-bucket         shows to which database the bucket belongs; with --yes gives it to this one
  npm run ops -- restore-objects      restores wrongly deleted objects from the versions that the bucket keeps;
                                      --deleted-since 2026-11-22T03:00Z leaves earlier deletions alone

  --json   prints JSON, for programs
  --all-failed-since TIME   for retry: e.g. 2026-11-22T04:00:00Z
  --reason TEXT             for retry: why; the timelines of the pastes show it, also to their owners
                            for cancel: why; the owner of the job reads it

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
} as const;

export function parseOpsCommand(args: readonly string[]): OpsCommand | Help | Misused {
  const parsed = parseArguments(args, options);
  if (parsed.kind === 'misused') return parsed;
  const { values, positionals } = parsed;
  if (values.help === true) return { kind: 'help' };
  const json = values.json === true;
  const [name, ...rest] = positionals;
  const since = values['deleted-since'];
  const wanted = values['all-failed-since'];
  if (values.yes === true && name !== 'adopt-bucket' && wanted === undefined)
    return misused('--yes is only for adopt-bucket and for retry --all-failed-since');
  if (wanted !== undefined && name !== 'retry') return misused('--all-failed-since is only for retry');
  if (values.reason !== undefined && name !== 'retry' && name !== 'cancel')
    return misused('--reason is only for retry and cancel');
  if (since !== undefined && name !== 'restore-objects')
    return misused('--deleted-since is only for restore-objects');
  switch (name) {
    case 'status':
    case 'retry-dead-letters':
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
    case undefined:
      return misused('the command is missing');
    default:
      return misused(`${quote(name)} is not a command`);
  }
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
