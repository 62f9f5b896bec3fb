import { formatSize, formatTime } from '../html/formats.ts';
import { textMarkup } from '../content/paste-lines.ts';
import { html, Html } from '../html/html.ts';
import { choice, filterForm } from '../html/filter-form.ts';
import { actionLink, operationsPage, type OperationsSite } from './layout.ts';
import { en } from '../words/en.ts';
import { operationsWords as words } from './words.ts';

/** Times are in ISO 8601. */
interface ShownReported {
  readonly shortCode: string;
  /** null: none. */
  readonly title: string | null;
  /** null: one content without files. */
  readonly fileCount: number | null;
  /** null: an anonymous paste. */
  readonly userId: string | null;
  readonly reporters: number;
  readonly oldestAt: string;
  readonly classes: readonly string[];
  /** The words of a reporter; null: none. */
  readonly text: string | null;
  readonly network: string;
  readonly isHeld: boolean;
  /** How the content begins, or why that is not shown. */
  readonly firstLine: string;
}

interface ShownQueue {
  readonly pastes: readonly ShownReported[];
  readonly total: number;
  readonly by: 'age' | 'reporters';
  /** All that can be chosen. */
  readonly classes: readonly string[];
  /** The class and the network of the reports that are shown; null: any. */
  readonly class: string | null;
  readonly network: string | null;
  /** null: this is the last page. */
  readonly next: string | null;
}

/** The pastes with open reports, a page at a time. Several are judged together. */
export function reportsPage(site: OperationsSite, shown: ShownQueue): string {
  const { total, by, classes, class: chosen, network, pastes } = shown;
  const action = `${site.base}/reports`;
  const fields = [
    choice({ id: 'by', label: words.order }, Object.entries(words.reportsBy), by),
    choice(
      { id: 'class', label: words.classOfReport, any: words.anyClass },
      classes.map((each) => [each, plainList([each])] as const),
      chosen,
    ),
  ];
  const isAll = chosen === null && network === null;
  return operationsPage(site, {
    title: words.reports,
    place: 'reports',
    main: html`<h1>${words.reports}</h1>
${filterForm({ words: en }, action, [...fields, ...(network === null ? [] : [html`<input type="hidden" name="network" value="${network}">`])])}
${network !== null && ofNetwork(site, network)}
${pastes.length === 0 ? html`<p class="${isAll ? 'good-news' : 'hint'}">${isAll ? words.noReports : words.noneOfThese}</p>` : queue(site, shown)}
${total > pastes.length && html`<p class="hint">${words.shownOf(pastes.length, total)}</p>`}
${shown.next !== null && nextLink(action, { by, class: chosen, network, cursor: shown.next })}`,
  });
}

function nextLink(action: string, query: Readonly<Record<string, string | null>>): Html {
  const given = Object.entries(query).filter((each): each is [string, string] => each[1] !== null);
  return html`<p><a class="button" href="${action}?${new URLSearchParams(given).toString()}" rel="next">${words.next}</a></p>`;
}

/** A flood comes from one network: what nobody else has reported is rejected at once. */
function ofNetwork(site: OperationsSite, network: string): Html {
  const label = words.rejectNetwork;
  return html`<p>${words.onlyNetwork(network)} <a href="${site.base}/reports">${words.allNetworks}</a></p>
<p class="toolbar">${actionLink(site, { action: 'reject', subject: `network ${network}`, label })}</p>`;
}

function queue(site: OperationsSite, { pastes, total, by }: ShownQueue): Html {
  const rows = pastes.map(
    (
      paste,
    ) => html`<li>${site.mayAct && html`<input type="checkbox" name="subject" value="${paste.shortCode}" aria-label="${words.select(paste.shortCode)}">`}
<div><p><a href="${site.base}/reports/${paste.shortCode}">${
      paste.title === null ? paste.shortCode : html`<bdi>${paste.title}</bdi>`
    }</a>${paste.isHeld && html` <strong class="bad-news">${words.held}</strong>`}</p>
<p class="line"><span>${paste.shortCode}</span>${paste.fileCount !== null && html`<span>${en.paste.files(paste.fileCount)}</span>`}<span><strong>${plainList(paste.classes)}</strong></span><span>${words.reporterCount(paste.reporters)}</span><span>${formatTime(paste.oldestAt, en)}</span><span><a href="${site.base}/reports?by=${by}&amp;network=${paste.network}">${words.network(paste.network)}</a></span><span>${
      paste.userId === null
        ? words.noOwner
        : html`<a href="${site.base}/users/${paste.userId}">${words.owner(paste.userId)}</a>`
    }</span></p>
${paste.text !== null && html`<p class="words">“<bdi>${paste.text}</bdi>”</p>`}
<p class="first-line"><code><bdi>${new Html(textMarkup(paste.firstLine))}</bdi></code></p></div></li>\n`,
  );
  return html`<form method="get" action="${site.base}/confirm/reject">
<p>${words.reportedCount(total)}</p>
<ul class="rows">
${rows}</ul>
${
  site.mayAct &&
  html`<p class="toolbar"><button
formaction="${site.base}/confirm/uphold">${words.upholdSelected}</button> <button>${words.rejectSelected}</button></p>`
}
</form>`;
}

interface ShownReports {
  readonly shortCode: string;
  /** null: none. */
  readonly pasteTitle: string | null;
  readonly isHeld: boolean;
  readonly reports: readonly {
    readonly class: string;
    readonly text: string | null;
    readonly contact: string | null;
    readonly at: string;
  }[];
  /**
   * The beginning of the text, or why it is not shown. Nothing of a content is ever rendered: operators
   * download what is no text.
   */
  readonly content: ShownContent | readonly ShownReportedFile[];
}

type ShownContent =
  | { readonly text: string; readonly isCut: boolean }
  | {
      readonly hidden: keyof typeof words.contentHidden;
      /** What failed, for `unreadable`. */
      readonly error?: string;
    };

interface ShownReportedFile {
  readonly name: string;
  readonly size: number;
  readonly content: ShownContent;
}

/** The open reports of a paste, the beginning of its text, and the decisions. */
export function reportedPage(site: OperationsSite, shown: ShownReports): string {
  const { shortCode, pasteTitle, isHeld, reports, content } = shown;
  const items = reports.map(
    ({ class: why, text, contact, at }) =>
      html`<li><strong>${plainList([why])}</strong>, ${formatTime(at, en)}${
        contact !== null && html`, <bdi>${contact}</bdi>`
      }${text !== null && html`<p class="words"><bdi>${text}</bdi></p>`}</li>\n`,
  );
  return operationsPage(site, {
    title: words.reportsOf(shortCode),
    place: 'reports',
    main: html`<p><a href="${site.base}/reports">← ${words.reports}</a></p>
<h1>${words.reportsOf(shortCode)}</h1>
${isHeld && html`<p class="bad-news">${words.heldUntilJudged}</p>`}
<p class="toolbar">${actionLink(site, { action: 'uphold', subject: shortCode, label: words.uphold })}
${actionLink(site, { action: 'reject', subject: shortCode, label: words.reject })}
<a class="button" href="${site.base}/pastes/${shortCode}">${words.showPaste}</a></p>
<ol class="reports">${items}</ol>
<h2>${words.content}</h2>
${pasteTitle !== null && html`<p class="words">${words.titleOfPaste}: <bdi>${pasteTitle}</bdi></p>`}
${'length' in content ? content.map(filePart) : contentPart(content)}
${!('hidden' in content && content.hidden === 'missing') && html`<p><a class="button" href="${site.base}/content/${shortCode}" download>${words.downloadContent}</a></p>`}`,
  });
}

function filePart({ name, size, content }: ShownReportedFile): Html {
  return html`<h3><bdi>${name}</bdi> <small>${formatSize(size, en)}</small></h3>\n${contentPart(content)}`;
}

function contentPart(content: ShownContent): Html {
  if ('hidden' in content)
    return html`<p>${words.contentHidden[content.hidden]}${
      content.error !== undefined && html`: <bdi>${content.error}</bdi>`
    }</p>\n`;
  return html`<pre class="reported" tabindex="0">${new Html(textMarkup(content.text))}</pre>
${content.isCut && html`<p class="hint">${words.contentCut}</p>`}`;
}

function plainList(names: readonly string[]): string {
  return names.map((name) => name.replaceAll('_', ' ')).join(', ');
}
