import { choice, filterForm, pageLinks } from '../html/filter-form.ts';
import { formatNumber, formatSize, formatTime } from '../html/formats.ts';
import { html, type Html, type HtmlValue, table } from '../html/html.ts';
import { en } from '../words/en.ts';
import {
  actionLink,
  leastText,
  operationsPage,
  row,
  type OperationsPlace,
  type OperationsSite,
  type ShownCount,
} from './layout.ts';
import { operationsWords as words } from './words.ts';

/** A page of a list. Times are in ISO 8601. */
interface ShownList<Row> {
  readonly rows: readonly Row[];
  readonly isFirst: boolean;
  /** null: this is the last page. */
  readonly next: string | null;
}

interface ShownUser {
  readonly id: string;
  readonly name: string;
  /** What the identity provider calls the user; null: nothing. */
  readonly shownName: string | null;
  readonly createdAt: string;
  readonly pastes: ShownCount;
  readonly bytes: ShownCount;
  readonly jobs: ShownCount;
  readonly tokens: ShownCount;
}

/** The users by name, with what they have. */
export function usersPage(
  site: OperationsSite,
  list: ShownList<ShownUser> & { readonly name: string | null },
): string {
  const { base } = site;
  const rows = list.rows.map(({ id, name, shownName, createdAt, pastes, bytes, jobs, tokens }) =>
    row([
      html`<a href="${base}/users/${id}"><bdi>${name}</bdi></a>${shownName !== null && html` <span class="hint"><bdi>${shownName}</bdi></span>`}`,
      html`<a href="${base}/pastes?owner=${id}">${leastText(pastes)}</a>`,
      `${formatSize(bytes.count, en)}${bytes.approximate ? '+' : ''}`,
      html`<a href="${base}/jobs?owner=${id}">${leastText(jobs)}</a>`,
      leastText(tokens),
      formatTime(createdAt, en),
    ]),
  );
  return listPage(site, list, {
    place: 'users',
    fields: [textField('name', words.nameFilter, list.name)],
    query: { name: list.name },
    heads: ['Name', 'Pastes', 'Size', 'Jobs', 'Tokens', 'Since'],
    rows,
  });
}

interface Owned {
  readonly userId: string | null;
  /** null: nobody. */
  readonly owner: string | null;
}

interface ListedPaste extends Owned {
  readonly shortCode: string;
  readonly title: string | null;
  readonly state: keyof typeof words.pasteStates;
  readonly isHeld: boolean;
  readonly sizeBytes: number;
  readonly createdAt: string;
  /** null: never. */
  readonly expiresAt: string | null;
}

/** What was asked for; null: nothing. */
interface OwnerFilter {
  readonly owner: string | null;
  /** There is no such user. */
  readonly isUnknown: boolean;
}

/** Everybody's pastes: titles, and never contents. */
export function pastesPage(
  site: OperationsSite,
  list: ShownList<ListedPaste> & OwnerFilter & { readonly title: string | null; readonly state: string },
): string {
  const { base } = site;
  const rows = list.rows.map((paste) =>
    row([
      html`<a href="${base}/pastes/${paste.shortCode}">${paste.shortCode}</a>`,
      html`<bdi>${paste.title}</bdi>`,
      ownerLink(site, paste),
      html`${words.pasteStates[paste.state]}${paste.isHeld && html` <strong class="bad-news">${words.held}</strong>`}`,
      formatSize(paste.sizeBytes, en),
      formatTime(paste.createdAt, en),
      paste.expiresAt === null ? words.never : formatTime(paste.expiresAt, en),
    ]),
  );
  const { title, state, owner } = list;
  return listPage(site, list, {
    place: 'pastes',
    fields: [
      textField('title', words.titleFilter, title),
      textField('owner', words.ownerFilter, owner),
      choice({ id: 'state', label: words.state }, Object.entries(words.pasteStates), state),
    ],
    query: { title, owner, state },
    heads: ['Code', 'Title', 'User', 'State', 'Size', 'Created', 'Expires'],
    rows,
  });
}

interface ListedJob extends Owned {
  readonly id: string;
  readonly type: string;
  readonly status: string;
  readonly progress: number;
  readonly error: string | null;
  readonly createdAt: string;
  /** null: it has not ended. */
  readonly endedAt: string | null;
}

/** Everybody's jobs. */
export function jobsPage(
  site: OperationsSite,
  list: ShownList<ListedJob> &
    OwnerFilter & {
      readonly type: string | null;
      readonly state: string | null;
      readonly states: readonly string[];
    },
): string {
  const { base } = site;
  const rows = list.rows.map((job) =>
    row([
      html`<a href="${base}/jobs/${job.id}">${job.id}</a>`,
      job.type,
      ownerLink(site, job),
      job.endedAt === null ? `${job.status}, ${job.progress} %` : job.status,
      formatTime(job.createdAt, en),
      job.endedAt !== null && formatTime(job.endedAt, en),
      html`<bdi>${job.error}</bdi>`,
    ]),
  );
  const { type, state, states, owner } = list;
  return listPage(site, list, {
    place: 'jobs',
    fields: [
      choice(
        { id: 'state', label: words.state, any: words.anyState },
        states.map((each) => [each, each] as const),
        state,
      ),
      textField('type', words.type, type),
      textField('owner', words.ownerFilter, owner),
    ],
    query: { state, type, owner },
    heads: ['Id', 'Type', 'User', 'State', 'Created', 'Ended', 'Error'],
    rows,
  });
}

interface ShownErasure {
  readonly userId: string;
  readonly status: string;
  readonly requestedAt: string;
  readonly pastes: number;
  readonly jobs: number;
  readonly pastesLeft: ShownCount;
  readonly jobsLeft: ShownCount;
}

/** The erasures that are not done, oldest first. */
export function erasuresPage(site: OperationsSite, list: ShownList<ShownErasure>): string {
  const rows = list.rows.map((each) =>
    row([
      each.userId,
      each.status.replaceAll('_', ' '),
      formatTime(each.requestedAt, en),
      `${leastText(each.pastesLeft)} of ${formatNumber(each.pastes, en)}`,
      `${leastText(each.jobsLeft)} of ${formatNumber(each.jobs, en)}`,
    ]),
  );
  return listPage(site, list, {
    place: 'erasures',
    none: words.noErasures,
    before:
      rows.length > 0 &&
      html`<p class="toolbar">${actionLink(site, { action: 'run-sweep', subject: 'erasures', label: words.runErasures })}</p>\n`,
    heads: ['User', 'State', 'Requested', 'Pastes left', 'Jobs left'],
    rows,
  });
}

interface ListParts {
  readonly place: OperationsPlace;
  /** Of the filter. Default: there is none. */
  readonly fields?: readonly Html[];
  readonly query?: Readonly<Record<string, string | null>>;
  readonly before?: HtmlValue;
  readonly heads: readonly string[];
  readonly rows: readonly Html[];
  /** When the list is empty and has no filter. */
  readonly none?: string;
}

function listPage(
  site: OperationsSite,
  list: Pick<ShownList<unknown>, 'isFirst' | 'next'> & Partial<OwnerFilter>,
  { place, fields = [], query = {}, before, heads, rows, none = words.nothingFound }: ListParts,
): string {
  const title = words.places[place];
  const action = `${site.base}/${place}`;
  const nothing = list.next === null ? none : words.noneSoFar;
  return operationsPage(site, {
    title,
    place,
    main: html`<h1>${title}</h1>
${fields.length > 0 && filterForm({ words: en }, action, fields)}
${before}${
      list.isUnknown === true
        ? html`<p class="bad-news" role="status"><bdi>${words.noSuchUser(list.owner ?? '')}</bdi></p>`
        : rows.length === 0
          ? html`<p role="status">${nothing}</p>`
          : table(title, heads, rows)
    }
${pageLinks({ words: en }, action, query, list)}`,
  });
}

function textField(id: string, label: string, value: string | null): Html {
  return html`<div class="field"><label for="${id}">${label}</label><input id="${id}" name="${id}" value="${value}"
maxlength="300" autocomplete="off"></div>`;
}

function ownerLink({ base }: OperationsSite, { userId, owner }: Owned): HtmlValue {
  return userId !== null && html`<a href="${base}/users/${userId}"><bdi>${owner}</bdi></a>`;
}
