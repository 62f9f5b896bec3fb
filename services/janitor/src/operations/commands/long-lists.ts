import { job, statesOf, type JobState } from '@pasteflow/domain';
import {
  listedPasteStates,
  listUsers,
  type Database,
  type ListedPasteState,
  type PageRequest,
} from '@pasteflow/postgres';
import {
  asJson,
  decodeCursor,
  formatBytes,
  formatMillisecond,
  formatSecond,
  formatTable,
  isMisused,
  misused,
  quote,
  succeeded,
  type CommandResult,
  type Misused,
} from '@pasteflow/service-kit';
import { atLeast } from '../reports/counted.ts';
import { findOwner, readJobs, readPastes } from '../reports/read-lists.ts';
import type { Flags, GivenOptions, OwnCommand } from './command.ts';

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 1000;

const pageFlags: Flags = {
  limit: ['--limit <N>', `so many rows, at most ${MAX_LIMIT}. Default: ${DEFAULT_LIMIT}`],
  after: ['--after <PLACE>', 'goes on at the place where the page before has ended'],
};

const jobStates = statesOf(job);

const filterFlags: Flags = {
  owner: ['--owner <USER>', 'only those of this user: an id, or an exact name'],
  state: [
    '--state <STATE>',
    `of pastes ${listedPasteStates.join(', ')} (default: there); of jobs ${jobStates.join(', ')}`,
  ],
};

/** By name, with what each of them has. */
export const users: OwnCommand<{
  readonly text: string | null;
  readonly limit: number;
  readonly after: string | null;
}> = {
  name: 'users',
  takes: '[NAME]',
  help: 'lists the users, with what they have; with NAME those with this part in their names',
  flags: pageFlags,
  read: ([text = null, ...more], options) => {
    const limit = limitOf(options);
    if (isMisused(limit)) return limit;
    if (more.length > 0) return misused('users takes no argument, or a part of a name');
    return { text, limit, after: textOf(options, 'after') };
  },
  run: async ({ db, config }, { json, ...asked }) => {
    const found = await listUsers(db, { ...asked, hasQuotas: config.quotas !== null });
    const shown = found.users.map(({ shownName, createdAt, ...user }) => ({
      ...user,
      shown_name: shownName,
      created_at: createdAt,
    }));
    if (json) return succeeded(asJson({ users: shown, next: found.next }));
    const rows = found.users.map(({ name, shownName, pastes, bytes, jobs, tokens, createdAt, id }) => [
      name,
      shownName ?? '-',
      atLeast(pastes),
      atLeast(bytes, formatBytes),
      atLeast(jobs),
      atLeast(tokens),
      formatSecond(createdAt),
      id,
    ]);
    return table(
      ['NAME', 'SHOWN AS', '>PASTES', '>BYTES', '>JOBS', '>TOKENS', 'SINCE', 'ID'],
      rows,
      found.next,
    );
  },
};

/** By title, owner and state. Titles are shown, as those of reported pastes are; contents never. */
export const pastes: OwnCommand<{
  readonly title: string | null;
  readonly state: ListedPasteState;
  readonly owner: string | null;
  readonly page: PageRequest;
}> = {
  name: 'pastes',
  takes: '[TITLE]',
  help: 'lists the pastes, newest first; with TITLE those with this part in their titles',
  flags: { ...filterFlags, ...pageFlags },
  read: ([title = null, ...more], options) => {
    const page = pageOf(options);
    if (isMisused(page)) return page;
    const { state: asked = 'there' } = options;
    const state = listedPasteStates.find((each) => each === asked);
    if (state === undefined) return misused(`--state of pastes is one of ${listedPasteStates.join(', ')}`);
    if (more.length > 0) return misused('pastes takes no argument, or a part of a title');
    return { title, state, owner: textOf(options, 'owner'), page };
  },
  run: async ({ db }, { title, state, owner, page, json }) => {
    const userId = await requireOwner(db, owner);
    const { rows, next } = await readPastes(db, { title, state, userId }, page);
    const fields = rows.map((paste) => ({
      short_code: paste.shortCode,
      title: paste.title,
      state: paste.state,
      held: paste.isHeld,
      size_bytes: paste.sizeBytes,
      user_id: paste.userId,
      user: paste.owner,
      created_at: paste.createdAt,
      expires_at: paste.expiresAt,
    }));
    if (json) return succeeded(asJson({ pastes: fields, next }));
    const lines = rows.map((paste) => [
      paste.shortCode,
      `${paste.state}${paste.isHeld ? ', held' : ''}`,
      formatBytes(paste.sizeBytes),
      formatSecond(paste.createdAt),
      paste.expiresAt === null ? 'never' : formatSecond(paste.expiresAt),
      paste.owner ?? '-',
      paste.title ?? '-',
    ]);
    return table(['CODE', 'STATE', '>BYTES', 'CREATED', 'EXPIRES', 'OWNER', 'TITLE'], lines, next);
  },
};

/** By state, type and owner. */
export const jobs: OwnCommand<{
  readonly status: JobState | null;
  readonly jobType: string | null;
  readonly owner: string | null;
  readonly page: PageRequest;
}> = {
  name: 'jobs',
  help: 'lists the jobs, newest first',
  flags: { ...filterFlags, type: ['--type <TYPE>', 'only those of this type'], ...pageFlags },
  read: (_args, options) => {
    const page = pageOf(options);
    if (isMisused(page)) return page;
    const status = jobStates.find((each) => each === options.state) ?? null;
    if (status === null && options.state !== undefined)
      return misused(`--state of jobs is one of ${jobStates.join(', ')}`);
    return { status, jobType: textOf(options, 'type'), owner: textOf(options, 'owner'), page };
  },
  run: async ({ db }, { status, jobType, owner, page, json }) => {
    const userId = await requireOwner(db, owner);
    const { rows, next } = await readJobs(db, { status, jobType, userId }, page);
    const fields = rows.map((each) => ({
      id: each.id,
      job_type: each.job_type,
      status: each.status,
      progress: each.progress,
      error_message: each.error_message,
      user_id: each.user_id,
      user: each.owner,
      created_at: each.created_at,
      completed_at: each.completed_at,
    }));
    if (json) return succeeded(asJson({ jobs: fields, next }));
    const lines = rows.map((each) => [
      each.id,
      each.job_type,
      each.status,
      `${each.progress} %`,
      formatMillisecond(each.created_at),
      formatMillisecond(each.completed_at),
      each.owner ?? '-',
      each.error_message ?? '-',
    ]);
    return table(['ID', 'TYPE', 'STATE', '>PROGRESS', 'CREATED', 'ENDED', 'OWNER', 'ERROR'], lines, next);
  },
};

/** A table, and how to go on. A page of a search may be empty although more follow. */
function table(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  next: string | null,
): CommandResult {
  const shown =
    rows.length === 0 ? `Nothing was found${next === null ? '' : ' so far'}.\n` : formatTable(headings, rows);
  return succeeded(
    next === null ? shown : `${shown}More may follow: repeat the command with --after ${shellWord(next)}\n`,
  );
}

/** The names of users stand in single quotes. */
function shellWord(text: string): string {
  return /^[\w.-]+$/.test(text) && !text.startsWith('-')
    ? text
    : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

function limitOf({ limit = String(DEFAULT_LIMIT) }: GivenOptions): number | Misused {
  const rows = /^\d{1,4}$/.test(String(limit)) ? Number(limit) : 0;
  return rows >= 1 && rows <= MAX_LIMIT ? rows : misused(`--limit takes a number from 1 to ${MAX_LIMIT}`);
}

function pageOf(options: GivenOptions): PageRequest | Misused {
  const limit = limitOf(options);
  if (isMisused(limit)) return limit;
  const cursor = textOf(options, 'after');
  const after = cursor === null ? null : decodeCursor(cursor);
  if (cursor !== null && after === null)
    return misused('--after takes the place that the page before has named');
  return { limit, after };
}

function textOf(options: GivenOptions, name: string): string | null {
  const given = options[name];
  return typeof given === 'string' ? given : null;
}

async function requireOwner(db: Database, owner: string | null): Promise<string | null> {
  if (owner === null) return null;
  const id = await findOwner(db, owner);
  if (id === null) throw new Error(`there is no user ${quote(owner)}; the name must match exactly`);
  return id;
}
