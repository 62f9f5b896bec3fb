import { formatTime } from '../html/formats.ts';
import { html, type Html } from '../html/html.ts';
import { legend, timelineChart, type ShownTimeline } from '../timeline/chart.ts';
import { attemptsTable, retriesTable, transitionsTable } from '../timeline/tables.ts';
import { actionLink, leastText, operationsPage, type OperationsSite, type ShownCount } from './layout.ts';
import { en } from '../words/en.ts';
import { operationsWords as words } from './words.ts';

/**
 * A paste, a job or a delivery of a webhook, as operators see it: also private, expired and deleted ones, and never content or a
 * title.
 */
export interface ShownSubject {
  readonly kind: 'paste' | 'job' | 'delivery';
  /** The short code of a paste, the id of a job or a delivery. */
  readonly name: string;
  readonly created_at: string;
  /** Names and values, in the order in which they are shown. */
  readonly facts: readonly (readonly [name: string, value: string | Date])[];
  /** null: anonymous, a job or a delivery. */
  readonly user_id: string | null;
  /** The id of the request for secrets that the paste was deposited for; null: none. */
  readonly request: string | null;
  readonly content_hash: string | null;
  readonly canRetry: boolean;
  readonly canCancel: boolean;
  /** One sentence; null: nobody took it down. */
  readonly takedown: string | null;
  readonly timeline: ShownTimeline;
}

/** The facts and the timeline of a paste, a job or a delivery, with what an operator can do. */
export function subjectPage(site: OperationsSite, shown: ShownSubject, now: Date): string {
  const { kind, name, created_at, facts, user_id, takedown, timeline } = shown;
  const title = `${words[kind]} ${name}`;
  return operationsPage(site, {
    title,
    ...(kind !== 'delivery' && { place: kind === 'paste' ? 'pastes' : 'jobs' }),
    main: html`<h1>${title}</h1>
${takedown !== null && html`<p class="bad-news">${words.takenDown}: <bdi>${takedown}</bdi></p>`}
<dl class="facts">${facts.map(
      ([fact, value]) => html`<div><dt>${fact}</dt>
<dd>${value instanceof Date ? formatTime(value.toISOString(), en) : html`<bdi>${value}</bdi>`}</dd>
</div>`,
    )}${
      user_id !== null &&
      html`<div><dt>${words.user}</dt>
<dd><a href="${site.base}/users/${user_id}">${user_id}</a></dd></div>`
    }</dl>
${kind === 'paste' && pasteActions(site, shown)}
${shown.canCancel && html`<p>${actionLink(site, { action: 'cancel-job', subject: name, label: words.cancelJob })}</p>`}
${kind === 'job' && shown.canRetry && html`<p>${actionLink(site, { action: 'retry-job', subject: name, label: words.retryJob })}</p>`}
${kind !== 'delivery' && chart(kind, shown, now)}
${retriesTable(en, timeline)}<h2>${words.transitions}</h2>
${transitionsTable(en, timeline, created_at)}
<h2>${words.attempts}</h2>
${attemptsTable(en, timeline)}`,
  });
}

function chart(kind: 'paste' | 'job', { timeline, created_at }: ShownSubject, now: Date): Html {
  const drawing = timelineChart(en, timeline, created_at, now, kind);
  return html`<figure class="chart"><div class="scroll" role="region" aria-label="${words.chart}" tabindex="0">${drawing}</div>${legend(en, drawing, kind)}</figure>`;
}

function pasteActions(
  site: OperationsSite,
  { name, content_hash, canRetry, takedown, request }: ShownSubject,
): Html {
  return html`<p class="toolbar">${takedown === null && actionLink(site, { action: 'takedown', subject: name, label: words.takeDown })}
${content_hash !== null && actionLink(site, { action: 'block', subject: content_hash, label: words.block })}
${request !== null && actionLink(site, { action: 'close-request', subject: request, label: words.closeRequest })}
${canRetry && actionLink(site, { action: 'retry', subject: name, label: words.retry })}</p>`;
}

/** A user: the names, and how many pastes can be taken down. */
export function userPage(
  site: OperationsSite,
  {
    id,
    name,
    shownName,
    pastes,
  }: {
    readonly id: string;
    /** null: there is no such user any more. */
    readonly name: string | null;
    readonly shownName: string | null;
    /** Those that can be taken down. */
    readonly pastes: ShownCount;
  },
): string {
  return operationsPage(site, {
    title: `${words.user} ${name ?? id}`,
    place: 'users',
    main: html`<h1>${words.user} <bdi>${name ?? id}</bdi></h1>
<dl class="facts"><div><dt>Id</dt><dd>${id}</dd></div>${shownName !== null && html`<div><dt>Shown as</dt><dd><bdi>${shownName}</bdi></dd></div>`}</dl>
<p class="toolbar"><a class="button" href="${site.base}/pastes?owner=${id}">${words.pastesOf}</a> <a class="button" href="${site.base}/jobs?owner=${id}">${words.jobsOf}</a></p>
<p>${words.pastesOfUser(pastes.count, leastText(pastes))}</p>
<p>${actionLink(site, { action: 'takedown-user', subject: id, label: words.takeDownUser })} ${actionLink(site, { action: 'erase', subject: id, label: words.eraseUser })}</p>`,
  });
}
