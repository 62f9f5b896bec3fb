import { formatTime } from '../html/formats.ts';
import { html, type Html } from '../html/html.ts';
import { actionLink, operationsPage, type OperationsSite } from './layout.ts';
import { en } from '../words/en.ts';
import { operationsWords as words } from './words.ts';

interface ShownFailed {
  readonly pastes: readonly {
    readonly shortCode: string;
    /** In ISO 8601. */
    readonly failedAt: string;
    readonly reason: string | null;
  }[];
  /** How many there are, with those that are not shown. */
  readonly count: number;
}

/** The pastes whose upload failed and can be retried, oldest first. */
export function failedPastesPage(site: OperationsSite, failed: ShownFailed): string {
  return operationsPage(site, {
    title: words.failedPastes,
    main: html`<p><a href="${site.base}/">← ${words.overview}</a></p>
<h1>${words.failedPastes}</h1>
${failed.pastes.length === 0 ? html`<p class="good-news">${words.noFailed}</p>` : list(site, failed)}`,
  });
}

function list(site: OperationsSite, { pastes, count }: ShownFailed): Html {
  const rows = pastes.map(
    ({ shortCode, failedAt, reason }) =>
      html`<li><div><p><a href="${site.base}/pastes/${shortCode}">${shortCode}</a></p>
<p class="line"><span>${formatTime(failedAt, en)}</span><span>${reason}</span></p></div>
${actionLink(site, { action: 'retry', subject: shortCode, label: words.retry })}</li>\n`,
  );
  return html`<p>${words.failedIntro} ${count > pastes.length && words.moreFailed(pastes.length, count)}</p>
<ul class="rows">
${rows}</ul>
<p class="toolbar">${actionLink(site, { action: 'retry-failed', subject: null, label: words.retryFailed })}</p>`;
}
