import { job, statesOf } from '@pasteflow/domain';
import {
  listedPasteStates,
  listLeasesOf,
  listOpenErasures,
  listUsers,
  listWorkers,
  type Database,
  type PageRequest,
} from '@pasteflow/postgres';
import { decodeCursor, encodeCursor } from '@pasteflow/service-kit';
import {
  erasuresPage,
  jobsPage,
  pastesPage,
  usersPage,
  workerPage,
  workersPage,
  type OperationsSite,
} from '@pasteflow/web';
import type { Operations } from '../operations.ts';
import { findOwner, readJobs, readPastes } from '../reports/read-lists.ts';
import { notFound, pageResponse, type PageResponse } from './response.ts';

const ON_A_PAGE = 50;

/** Leases of one worker that are shown. */
const MAX_LEASES = 1000;

type Show = (
  operations: Pick<Operations, 'db' | 'config'>,
  site: OperationsSite,
  query: URLSearchParams,
) => Promise<string>;

/** The lists, by the first part of their paths. */
const rooms = {
  users: showUsers,
  pastes: showPastes,
  jobs: showJobs,
  workers: showWorkers,
  erasures: showErasures,
} as const satisfies Record<string, Show>;

type ListRoom = keyof typeof rooms;

export function isListRoom(room: string): room is ListRoom {
  return Object.hasOwn(rooms, room);
}

/** GET of a list. @throws Refusal 404 for a query that no page has made */
export async function showList(
  operations: Pick<Operations, 'db' | 'config'>,
  site: OperationsSite,
  room: ListRoom,
  query: URLSearchParams,
): Promise<PageResponse> {
  if ([...query.values()].some((value) => value.includes('\0'))) throw notFound('There is no such page.');
  return pageResponse(await rooms[room](operations, site, query));
}

async function showUsers(
  { db, config }: Pick<Operations, 'db' | 'config'>,
  site: OperationsSite,
  query: URLSearchParams,
) {
  const name = textIn(query, 'name');
  const after = query.get('cursor') || null; // a name, which may begin with a space
  const hasQuotas = config.quotas !== null;
  const { users, next } = await listUsers(db, { text: name, after, limit: ON_A_PAGE, hasQuotas });
  const rows = users.map(({ createdAt, ...user }) => ({ ...user, createdAt: createdAt.toISOString() }));
  return usersPage(site, { rows, next, isFirst: after === null, name });
}

async function showPastes({ db }: Pick<Operations, 'db'>, site: OperationsSite, query: URLSearchParams) {
  const page = pageIn(query);
  const title = textIn(query, 'title');
  const state = listedPasteStates.find((each) => each === query.get('state')) ?? 'there';
  const asked = { title, state, ...(await ownerIn(db, query)) };
  const { rows, next } = asked.isUnknown ? nothing : await readPastes(db, asked, page);
  const shown = rows.map(({ createdAt, expiresAt, ...paste }) => ({
    ...paste,
    createdAt: createdAt.toISOString(),
    expiresAt: expiresAt?.toISOString() ?? null,
  }));
  return pastesPage(site, { ...asked, rows: shown, next, isFirst: page.after === null });
}

const jobStates = statesOf(job);

async function showJobs({ db }: Pick<Operations, 'db'>, site: OperationsSite, query: URLSearchParams) {
  const page = pageIn(query);
  const state = jobStates.find((each) => each === query.get('state')) ?? null;
  const type = textIn(query, 'type');
  const asked = await ownerIn(db, query);
  const { userId } = asked;
  const { rows, next } = asked.isUnknown
    ? nothing
    : await readJobs(db, { status: state, jobType: type, userId }, page);
  const shown = rows.map((each) => ({
    id: each.id,
    type: each.job_type,
    status: each.status,
    progress: each.progress,
    error: each.error_message,
    userId: each.user_id,
    owner: each.owner,
    createdAt: each.created_at.toISOString(),
    endedAt: each.completed_at?.toISOString() ?? null,
  }));
  const filter = { ...asked, state, type, states: jobStates };
  return jobsPage(site, { ...filter, rows: shown, next, isFirst: page.after === null });
}

async function showWorkers({ db }: Pick<Operations, 'db'>, site: OperationsSite, query: URLSearchParams) {
  const worker = textIn(query, 'worker');
  if (worker !== null) {
    const leases = await listLeasesOf(db, worker, MAX_LEASES);
    const shown = leases.map(({ startedAt, leasedUntil, ...lease }) => ({
      ...lease,
      startedAt: startedAt.toISOString(),
      leasedUntil: leasedUntil.toISOString(),
    }));
    return workerPage(site, worker, shown);
  }
  const shown = (await listWorkers(db)).map(({ oldestAt, leasedUntil, ...each }) => ({
    ...each,
    oldestAt: oldestAt.toISOString(),
    leasedUntil: leasedUntil.toISOString(),
  }));
  return workersPage(site, shown);
}

async function showErasures({ db }: Pick<Operations, 'db'>, site: OperationsSite, query: URLSearchParams) {
  const page = pageIn(query);
  const { rows, next } = await listOpenErasures(db, page);
  const shown = rows.map(({ requestedAt, ...each }) => ({ ...each, requestedAt: requestedAt.toISOString() }));
  return erasuresPage(site, { rows: shown, next: next && encodeCursor(next), isFirst: page.after === null });
}

const nothing = { rows: [], next: null };

/** An empty field of a form says nothing. */
function textIn(query: URLSearchParams, name: string): string | null {
  return query.get(name)?.trim() || null;
}

function pageIn(query: URLSearchParams): PageRequest {
  const cursor = textIn(query, 'cursor');
  const after = cursor === null ? null : decodeCursor(cursor);
  if (cursor !== null && after === null) throw notFound('There is no such page.');
  return { limit: ON_A_PAGE, after };
}

async function ownerIn(db: Database, query: URLSearchParams) {
  const owner = textIn(query, 'owner');
  const userId = owner === null ? null : await findOwner(db, owner);
  return { owner, userId, isUnknown: owner !== null && userId === null };
}
