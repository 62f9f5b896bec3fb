import { isRequestCode, isShortCode, isUuid } from '@pasteflow/domain';
import {
  countStanding,
  findKnownWebhook,
  findOperatorAction,
  findRetryable,
  findSubjectOf,
  findUserNames,
  listFailedCauses,
  type Database,
} from '@pasteflow/postgres';
import {
  failedPastesPage,
  outcomePage,
  overviewPage,
  subjectPage,
  userPage,
  type OperationsSite,
} from '@pasteflow/web';
import { readSubjectTimeline } from '../reports/read-timeline.ts';
import { findAction } from '../actions/actions.ts';
import type { Operations } from '../operations.ts';
import { confirm } from './act.ts';
import type { MinuteHistory } from './minutes.ts';
import { showOverview, type OverviewReader } from './overview.ts';
import { notFound, pageResponse, redirectTo, type PageResponse } from './response.ts';
import { isListRoom, showList } from './show-lists.ts';
import { downloadReported, showQueue, showReports } from './show-reports.ts';
import { showSubject } from './show-subject.ts';

/** What the pages show. */
export interface PageSources {
  readonly operations: Operations;
  readonly overview: OverviewReader;
  readonly minutes: MinuteHistory;
}

/** GET of every path but those of the assets. @throws Refusal 404 */
export async function respondWithPage(
  sources: PageSources,
  visited: OperationsSite,
  { path, query }: { readonly path: string; readonly query: URLSearchParams },
): Promise<PageResponse> {
  const [room = '', name = '', ...rest] = path.slice(1).split('/');
  const { operations, overview, minutes } = sources;
  const { db } = operations;
  if (rest.length > 0) throw notFound('There is no such page.');
  if (room === '') {
    const reading = await overview.read();
    const site = { ...visited, counts: reading.status.counts };
    return pageResponse(overviewPage(site, showOverview(reading, minutes.read())));
  }
  const site = { ...visited, counts: await overview.counts() };
  if (name === '' && isListRoom(room)) return await showList(operations, site, room, query);
  switch (room) {
    case 'find':
      return redirectTo(site.base + (await pathOf(db, (query.get('q') ?? '').trim())));
    case 'pastes':
    case 'jobs':
    case 'deliveries':
      return await showSubjectPage(db, site, room, name);
    case 'users':
      return await showUser(db, site, name);
    case 'reports':
      return name === ''
        ? await showQueue(operations, site, query)
        : await showReports(operations, site, name);
    case 'content':
      return await downloadReported(operations, name);
    case 'failed':
      if (name !== '') throw notFound('There is no such page.');
      return await showFailed(db, site, query);
    case 'actions':
      return await showOutcome(db, site, name);
    case 'confirm':
      return await confirm(operations, site, name, query.getAll('subject').join(' ')); // several are selected
    default:
      throw notFound('There is no such page.');
  }
}

/**
 * A short code, a URL of a paste, the id or the link of a request for secrets, or the id of a job, a delivery or an endpoint of
 * a webhook, an execution or a user.
 */
async function pathOf(db: Database, text: string): Promise<string> {
  const last = text.split('#', 1)[0]?.split('/').at(-1) ?? '';
  const id = last.toLowerCase();
  const hex = id.replace(/^sha256:/, '');
  if (/^[0-9a-f]{64}$/.test(hex)) return `/confirm/block?subject=sha256:${hex}`;
  if (isRequestCode(last)) return `/confirm/close-request?subject=${last}`;
  if (isShortCode(last)) return `/pastes/${last}`;
  if (!isUuid(id))
    throw notFound(
      'Enter a short code, the id of a request for secrets, a job, a delivery, an endpoint, an execution or a user, or a SHA-256.',
    );
  const subject = (await findSubjectOf(db, id)) ?? id;
  if (!isUuid(subject)) return `/pastes/${subject}`;
  const found = (await readSubjectTimeline(db, subject))?.subject;
  if (found !== undefined) return found.kind === 'delivery' ? `/deliveries/${subject}` : `/jobs/${subject}`;
  const webhook = await findKnownWebhook(db, id);
  if (webhook !== null)
    return `/confirm/switch-${webhook.switchedOffAt === null ? 'off' : 'on'}-webhook?subject=${id}`;
  return `/users/${id}`;
}

/** The step before an action counts all. */
const MAX_STANDING = 10_000;

async function showUser(db: Database, site: OperationsSite, id: string): Promise<PageResponse> {
  if (!isUuid(id)) throw notFound('There is no such user.');
  const { userName: name, shownName } = (await findUserNames(db, id)) ?? { userName: null, shownName: null };
  const count = await countStanding(db, id, MAX_STANDING);
  const pastes = { count, approximate: count === MAX_STANDING };
  return pageResponse(userPage(site, { id, name, shownName, pastes }));
}

const kindIn = { pastes: 'paste', jobs: 'job', deliveries: 'delivery' } as const;

async function showSubjectPage(
  db: Database,
  site: OperationsSite,
  room: keyof typeof kindIn,
  name: string,
): Promise<PageResponse> {
  const isName = room === 'pastes' ? isShortCode(name) : isUuid(name);
  const found = isName ? await readSubjectTimeline(db, name) : null;
  if (found?.subject.kind !== kindIn[room]) throw notFound(`There is no such ${kindIn[room]}.`);
  return pageResponse(subjectPage(site, showSubject(found), new Date()));
}

async function showOutcome(db: Database, site: OperationsSite, id: string): Promise<PageResponse> {
  const done = isUuid(id) ? await findOperatorAction(db, id) : null;
  if (done === null) throw notFound('There is no such action.');
  const title = findAction(done.action)?.title ?? done.action; // the command line records other names
  return pageResponse(outcomePage(site, { ...done, title, at: done.at.toISOString() }));
}

const FAILED_ON_A_PAGE = 100;

/** GET /failed: all, or those of one reason, after the place at which the page before ended. */
async function showFailed(db: Database, site: OperationsSite, query: URLSearchParams): Promise<PageResponse> {
  const cause = query.get('cause');
  const after = query.get('after');
  if ((after !== null && !isUuid(after)) || cause?.includes('\0') === true)
    throw notFound('There is no such page.');
  const limit = FAILED_ON_A_PAGE + 1;
  const found = await findRetryable(db, { reason: cause, after, limit });
  const shown = found.slice(0, FAILED_ON_A_PAGE);
  const causes = await listFailedCauses(db);
  const page = failedPastesPage(site, {
    cause,
    causes: causes.map(({ oldestAt, newestAt, ...each }) => ({
      ...each,
      oldestAt: oldestAt.toISOString(),
      newestAt: newestAt.toISOString(),
    })),
    pastes: shown.map(({ shortCode, failedAt, reason }) => ({
      shortCode,
      failedAt: failedAt.toISOString(),
      reason,
    })),
    next: found.length > shown.length ? (shown.at(-1)?.failedId ?? null) : null,
  });
  return pageResponse(page);
}
