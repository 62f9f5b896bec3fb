import { isShortCode, isUuid, takedownClasses } from '@pasteflow/domain';
import { countStanding, findOperatorAction, findSubjectOf, type Database } from '@pasteflow/postgres';
import {
  confirmationPage,
  outcomePage,
  overviewPage,
  subjectPage,
  userPage,
  type OperationsSite,
} from '@pasteflow/web';
import { readSubjectTimeline } from '../ops/read-timeline.ts';
import type { Action, Meant } from './action.ts';
import { pageAnswer, redirectTo, type Answer } from './answer.ts';
import type { MinuteHistory } from './minutes.ts';
import type { OverviewReader } from './overview-reader.ts';
import { Refusal } from './refusal.ts';
import { showOverview } from './show-overview.ts';
import { showSubject } from './show-subject.ts';

export interface PagesDependencies {
  readonly db: Database;
  readonly overview: OverviewReader;
  readonly minutes: MinuteHistory;
  readonly actions: ReadonlyMap<string, Action>;
}

/** GET of every path but those of the assets. @throws Refusal 404 */
export async function answerPage(
  deps: PagesDependencies,
  site: OperationsSite,
  { path, query }: { readonly path: string; readonly query: URLSearchParams },
): Promise<Answer> {
  const [room = '', name = '', ...rest] = path.slice(1).split('/');
  if (rest.length > 0) throw notFound('There is no such page.');
  switch (room) {
    case '':
      return pageAnswer(overviewPage(site, showOverview(await deps.overview.read(), deps.minutes.read())));
    case 'find':
      return redirectTo(site.base + (await pathOf(deps.db, (query.get('q') ?? '').trim())));
    case 'pastes':
    case 'jobs':
      return await subjectAnswer(deps.db, site, room, name);
    case 'users':
      if (!isUuid(name)) throw notFound('There is no such user.');
      return pageAnswer(userPage(site, { id: name, pastes: await countStanding(deps.db, name) }));
    case 'actions':
      return await outcomeAnswer(deps, site, name);
    case 'confirm':
      return await confirmAnswer(deps, site, name, query.get('subject'));
    default:
      throw notFound('There is no such page.');
  }
}

/** A short code, a URL of a paste, or the id of a job, an execution or a user. */
async function pathOf(db: Database, text: string): Promise<string> {
  const last = text.split('/').at(-1) ?? '';
  const id = last.toLowerCase();
  const hex = id.replace(/^sha256:/, '');
  if (/^[0-9a-f]{64}$/.test(hex)) return `/confirm/block?subject=sha256:${hex}`;
  if (isShortCode(last)) return `/pastes/${last}`;
  if (!isUuid(id))
    throw notFound('Enter a short code, the id of a job, an execution or a user, or a SHA-256.');
  const subject = await findSubjectOf(db, id);
  if (subject !== null) return isUuid(subject) ? `/jobs/${subject}` : `/pastes/${subject}`;
  if ((await readSubjectTimeline(db, { kind: 'job', id })) !== null) return `/jobs/${id}`;
  return `/users/${id}`;
}

async function subjectAnswer(
  db: Database,
  site: OperationsSite,
  room: 'pastes' | 'jobs',
  name: string,
): Promise<Answer> {
  const isName = room === 'pastes' ? isShortCode(name) : isUuid(name);
  const found = isName
    ? await readSubjectTimeline(
        db,
        room === 'pastes' ? { kind: 'paste', shortCode: name } : { kind: 'job', id: name },
      )
    : null;
  if (found === null) throw notFound(`There is no such ${room === 'pastes' ? 'paste' : 'job'}.`);
  return pageAnswer(subjectPage(site, showSubject(found), new Date()));
}

async function outcomeAnswer(
  { db, actions }: PagesDependencies,
  site: OperationsSite,
  id: string,
): Promise<Answer> {
  const done = isUuid(id) ? await findOperatorAction(db, id) : null;
  if (done === null) throw notFound('There is no such action.');
  const title = actions.get(done.action)?.title ?? done.action; // the command line records other names
  return pageAnswer(outcomePage(site, { ...done, title, at: done.at.toISOString() }));
}

/** @throws Refusal 404 for an unknown action or subject */
export async function meantBy(
  actions: ReadonlyMap<string, Action>,
  name: string,
  subject: string | null,
): Promise<{ readonly action: Action; readonly meant: Meant }> {
  const action = actions.get(name);
  if (action === undefined) throw notFound('There is no such action.');
  const meant = await action.meant(subject);
  if (meant === null) throw notFound('What the action is meant for does not exist.');
  return { action, meant };
}

async function confirmAnswer(
  { actions }: PagesDependencies,
  site: OperationsSite,
  name: string,
  subject: string | null,
): Promise<Answer> {
  if (!site.mayAct) throw mayOnlyRead();
  const { action, meant } = await meantBy(actions, name, subject);
  return confirmation(site, { name, subject, action, meant, hasChanged: false });
}

export function confirmation(
  site: OperationsSite,
  {
    name,
    subject,
    action,
    meant,
    hasChanged,
  }: {
    readonly name: string;
    readonly subject: string | null;
    readonly action: Action;
    readonly meant: Meant;
    readonly hasChanged: boolean;
  },
): Answer {
  const classes = action.hasClass ? takedownClasses : null;
  const { title, isReasonForOwner = false } = action;
  const shown = { action: name, title, subject, ...meant, classes, isReasonForOwner, hasChanged };
  return pageAnswer(confirmationPage(site, shown), hasChanged ? 409 : 200);
}

export function mayOnlyRead(): Refusal {
  return new Refusal(403, {
    title: 'Read only',
    detail: 'Your token reads and changes nothing. Sign in with OPS_TOKEN to act.',
  });
}

function notFound(detail: string): Refusal {
  return new Refusal(404, { title: 'Not found', detail });
}
