import { formatNumber, formatTime } from '../html/formats.ts';
import { html, type Html, table } from '../html/html.ts';
import { actionLink, operationsPage, type OperationsSite } from './layout.ts';
import { en } from '../words/en.ts';
import { operationsWords as words } from './words.ts';

/** Times are in ISO 8601. */
interface ShownFailed {
  /** The most frequent first. */
  readonly causes: readonly {
    readonly reason: string;
    readonly count: number;
    readonly oldestAt: string;
    readonly newestAt: string;
  }[];
  /** The reason of the pastes that are shown; null: any. */
  readonly cause: string | null;
  readonly pastes: readonly {
    readonly shortCode: string;
    readonly failedAt: string;
    readonly reason: string;
  }[];
  /** The id after which the next page begins; null: this is the last one. */
  readonly next: string | null;
}

/** The pastes whose upload failed and can be retried: by their reasons, and in pages. */
export function failedPastesPage(site: OperationsSite, failed: ShownFailed): string {
  const { causes, cause } = failed;
  return operationsPage(site, {
    title: words.failedPastes,
    place: 'failed',
    main: html`<h1>${words.failedPastes}</h1>
${causes.length === 0 && cause === null ? html`<p class="good-news">${words.noFailed}</p>` : list(site, failed)}`,
  });
}

function list(site: OperationsSite, { causes, cause, pastes, next }: ShownFailed): Html {
  const rows = pastes.map(
    ({ shortCode, failedAt, reason }) =>
      html`<li><div><p><a href="${site.base}/pastes/${shortCode}">${shortCode}</a></p>
<p class="line"><span>${formatTime(failedAt, en)}</span>${cause === null && html`<span>${reason}</span>`}</p></div>
${actionLink(site, { action: 'retry', subject: shortCode, label: words.retry })}</li>\n`,
  );
  const count = causes.reduce((sum, each) => sum + each.count, 0);
  return html`<p>${words.failedIntro(count)}</p>
<p class="toolbar">${actionLink(site, { action: 'retry-failed', subject: null, label: words.retryFailed })}</p>
${causesTable(site, causes)}
${cause !== null && html`<h2><bdi>${words.ofCause(cause)}</bdi></h2>\n<p><a href="${site.base}/failed">${words.allCauses}</a></p>`}
<ul class="rows">
${rows}</ul>
${next !== null && html`<p><a class="button" rel="next" href="${site.base}/failed?${queryOf(cause, next)}">${words.next}</a></p>`}`;
}

function causesTable(site: OperationsSite, causes: ShownFailed['causes']): Html {
  const rows = causes.map(
    ({ reason, count, oldestAt, newestAt }) =>
      html`<tr><td class="message"><a href="${site.base}/failed?${queryOf(reason, null)}">${reason}</a></td><td>${formatNumber(count, en)}</td>
<td>${formatTime(oldestAt, en)}</td><td>${formatTime(newestAt, en)}</td>
<td>${actionLink(site, { action: 'retry-failed', subject: `because ${reason}`, label: words.retryCause })}</td></tr>\n`,
  );
  return table(words.failedPastes, [words.cause, words.count, words.first, words.last, words.action], rows);
}

function queryOf(cause: string | null, after: string | null): string {
  return new URLSearchParams({
    ...(cause !== null && { cause }),
    ...(after !== null && { after }),
  }).toString();
}
