import { formatTime } from '../html/formats.ts';
import { html, type Html } from '../html/html.ts';
import { table } from '../html/table.ts';
import { actionLink, operationsPage, type OperationsSite } from './layout.ts';
import { en } from '../words/en.ts';
import { operationsWords as words } from './words.ts';

/** Times are in ISO 8601. */
interface ShownReported {
  readonly shortCode: string;
  readonly reporters: number;
  readonly oldestAt: string;
  readonly classes: readonly string[];
  readonly isHeld: boolean;
}

/** The pastes with open reports. */
export function reportsPage(
  site: OperationsSite,
  { pastes, by }: { readonly pastes: readonly ShownReported[]; readonly by: 'age' | 'reporters' },
): string {
  const rows = pastes.map(
    ({ shortCode, reporters, oldestAt, classes, isHeld }) =>
      html`<tr><td><a href="${site.base}/reports/${shortCode}">${shortCode}</a></td><td>${reporters}</td><td>${formatTime(oldestAt, en)}</td><td>${plainList(classes)}</td><td>${isHeld && words.held}</td></tr>\n`,
  );
  const orders = ['age', 'reporters'] as const;
  return operationsPage(site, {
    title: words.reports,
    main: html`<p><a href="${site.base}/">← ${words.overview}</a></p>
<h1>${words.reports}</h1>
<p class="toolbar">${orders.map((each) => html`<a class="button" href="${site.base}/reports?by=${each}"${each === by && html` aria-current="true"`}>${words.reportsBy[each]}</a> `)}</p>
${pastes.length === 0 ? html`<p class="good-news">${words.noReports}</p>` : table(words.reports, [words.paste, words.reporters, words.since, words.reason, words.state], rows)}`,
  });
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
  readonly content:
    | { readonly text: string; readonly isCut: boolean }
    | {
        readonly hidden: 'encrypted' | 'not text' | 'missing' | 'unreadable';
        /** What failed, for `unreadable`. */
        readonly error?: string;
      };
}

/** The open reports of a paste, the beginning of its text, and the decisions. */
export function reportedPage(site: OperationsSite, shown: ShownReports): string {
  const { shortCode, pasteTitle, isHeld, reports, content } = shown;
  const items = reports.map(
    ({ class: why, text, contact, at }) =>
      html`<li><strong>${plainList([why])}</strong>, ${formatTime(at, en)}${contact !== null && html`, <bdi>${contact}</bdi>`}${text !== null && html`<p class="words"><bdi>${text}</bdi></p>`}</li>\n`,
  );
  return operationsPage(site, {
    title: words.reportsOf(shortCode),
    main: html`<p><a href="${site.base}/reports">← ${words.reports}</a></p>
<h1>${words.reportsOf(shortCode)}</h1>
${isHeld && html`<p class="bad-news">${words.heldUntilJudged}</p>`}
<p class="toolbar">${actionLink(site, { action: 'uphold', subject: shortCode, label: words.uphold })}
${actionLink(site, { action: 'reject', subject: shortCode, label: words.reject })}
<a class="button" href="${site.base}/pastes/${shortCode}">${words.showPaste}</a></p>
<ol class="reports">${items}</ol>
<h2>${words.content}</h2>
${pasteTitle !== null && html`<p class="words">${words.titleOfPaste}: <bdi>${pasteTitle}</bdi></p>`}
${contentPart(site, shortCode, content)}`,
  });
}

function contentPart({ base }: OperationsSite, shortCode: string, content: ShownReports['content']): Html {
  const download = html`<p><a class="button" href="${base}/content/${shortCode}" download>${words.downloadContent}</a></p>`;
  if ('hidden' in content)
    return html`<p>${words.contentHidden[content.hidden]}${content.error !== undefined && html`: <bdi>${content.error}</bdi>`}</p>\n${content.hidden !== 'missing' && download}`;
  return html`<pre class="reported" tabindex="0">${content.text}</pre>
${content.isCut && html`<p class="hint">${words.contentCut}</p>`}
${download}`;
}

function plainList(names: readonly string[]): string {
  return names.map((name) => name.replaceAll('_', ' ')).join(', ');
}
