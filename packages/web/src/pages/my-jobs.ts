import { choice, countOf, filterForm, pageLinks } from '../html/filter-form.ts';
import { formatNumber, formatSize, formatTime } from '../html/formats.ts';
import { html, type Html } from '../html/html.ts';
import { progressText, type ProgressWords } from '../html/progress-text.ts';
import { formUser, onlyReads, page, type Site } from '../html/layout.ts';
import type { Words } from '../words/translation.ts';
import { expiryChoices, usualExpiry } from './house-rules.ts';

/** A job in its user's list. The times are in ISO 8601. */
export interface OwnJob {
  readonly id: string;
  readonly job_type: string;
  /** null: none. */
  readonly title: string | null;
  readonly status: keyof Words['job']['states'];
  /** Its owner or an operator has ended it, so that nothing went wrong. */
  readonly isCancelled: boolean;
  readonly progress: number;
  readonly progress_message: string | null;
  readonly error_message: string | null;
  readonly created_at: string;
  readonly completed_at: string | null;
}

export interface MyJobs {
  readonly jobs: readonly OwnJob[];
  readonly status: string | null;
  readonly jobType: string | null;
  readonly isFirst: boolean;
  readonly next: string | null;
  readonly jobTypes: readonly string[];
  readonly exportFormats: readonly string[];
  readonly maxFileBytes: number;
}

/** The user's jobs, newest first, with the forms that start an import or an export. */
export function myJobsPage(site: Site, list: MyJobs): string {
  const { myJobs: text, job } = site.words;
  const action = `${site.base}/my/jobs`;
  const types = list.jobTypes.map((type) => [type, typeOf(site.words, type)] as const);
  return page(site, {
    title: text.title,
    scripts: ['my-jobs.js'],
    place: '/my/jobs',
    main: html`<div class="heading starts"><h1>${text.title}</h1>
<details class="menu"><summary>${text.importTitle}</summary><div>${importForm(site, list)}</div></details>
<details class="menu"><summary>${text.exportTitle}</summary><div>${exportForm(site, list)}</div></details></div>
${onlyReads(site)}${filterForm(site, action, [
      choice({ id: 'job_type', label: job.type, any: text.anyType }, types, list.jobType),
      choice({ id: 'status', label: job.state, any: text.anyState }, Object.entries(job.states), list.status),
    ])}
<div id="found">
${list.jobs.length === 0 ? nothing(site, action, list) : html`<ul class="rows">\n${list.jobs.map((each) => row(site, each))}</ul>`}
${pageLinks(site, action, { job_type: list.jobType, status: list.status }, list)}</div>
${countOf(text.title)}<p id="ended" role="status" class="visually-hidden"></p>`,
  });
}

/** The API's text names the field that says why; the page of the job shows that field as a table. */
export function withoutFieldNames(message: string | null): string | null {
  return message?.replace(/; result\.\w+ says why\.$/, '.') ?? null;
}

/** The state of a job, as a badge. */
export function stateBadge(
  words: Words,
  { status, isCancelled }: OwnJob,
  attributes: Html | null = null,
): Html {
  const { states, cancelled } = words.job;
  return html`<span class="badge ${isCancelled ? 'cancelled' : status}"${attributes}>${isCancelled ? cancelled : states[status]}</span>`;
}

/** What a job is called: `Import of pastes.zip`. */
export function nameOf(words: Words, { job_type: type, title }: OwnJob): Html {
  return title === null
    ? html`${typeOf(words, type)}`
    : html`${words.job.titled(typeOf(words, type))} <bdi>${title}</bdi>`;
}

/** The name of a type of job; of one that this page does not know, as the API names it. */
export function typeOf(words: Words, type: string): string {
  return (words.job.types as Readonly<Record<string, string>>)[type] ?? type;
}

function importForm(site: Site, { maxFileBytes }: MyJobs): Html {
  const { words } = site;
  const { myJobs: text, form } = words;
  return html`<form class="start" method="post" action="${site.base}/my/jobs/import" enctype="multipart/form-data">${formUser(site)}
<div class="field"><label for="file">${text.file}</label><input id="file" name="file" type="file" required
aria-describedby="file-hint" data-max-bytes="${maxFileBytes}"
data-too-large="${form.atMost(formatSize(maxFileBytes, words))}"><p id="file-hint"
class="hint">${text.fileHint} ${form.atMost(formatSize(maxFileBytes, words))}</p></div>
${choice({ id: 'visibility', label: form.labels.visibility }, Object.entries(form.choices.visibility))}
${choice({ id: 'expires_in', label: form.labels.expires_in }, expiryChoices(site, false), usualExpiry(site))}
<div class="field"><label class="check" for="as_one_paste"><input id="as_one_paste" name="as_one_paste" type="checkbox" value="true"> ${text.asOnePaste}</label></div>
<p><button class="primary" type="submit">${text.startImport}</button></p>
</form>`;
}

function exportForm(site: Site, { exportFormats }: MyJobs): Html {
  const { myJobs: text } = site.words;
  return html`<form class="start" method="post" action="${site.base}/my/jobs/export">${formUser(site)}
<p class="hint">${text.exportHint}</p>
${choice(
  { id: 'format', label: text.format },
  exportFormats.map((format) => [format, format] as const),
)}
<p><button class="primary" type="submit">${text.startExport}</button></p>
</form>`;
}

function nothing({ words }: Site, action: string, { status, jobType, isFirst }: MyJobs): Html {
  const { myJobs: text } = words;
  if (status === null && jobType === null && isFirst) return html`<p class="card">${text.none}</p>`;
  return html`<div class="card"><p>${text.noMatch}</p><p><a class="button" href="${action}">${text.all}</a></p></div>`;
}

/** The browser module replaces the parts of an open job but its link, which keeps the focus. */
export function row(site: Site, each: OwnJob): Html {
  const { job } = site.words;
  const isOpen = each.completed_at === null;
  return html`<li${isOpen && html` data-open`} id="job-${each.id}"><div>
<p><a href="${site.base}/my/jobs/${each.id}">${nameOf(site.words, each)}</a> <span
data-part>${stateBadge(site.words, each)}</span></p>
<p class="line" data-part><span>${formatTime(each.created_at, site.words)}</span>${message(site.words, each)}</p></div>
<p data-part>${
    isOpen &&
    html`<progress max="100" value="${each.progress}"
aria-label="${job.progress}"></progress> ${percent(each.progress, site.words)}`
  }</p></li>\n`;
}

/** @param value from 0 to 100 */
export function percent(value: number, words: Words): string {
  return formatNumber(value / 100, words, { style: 'percent' });
}

function message(words: Words, { error_message: error, progress_message: progress }: OwnJob): Html | false {
  const shown = withoutFieldNames(error);
  if (shown !== null) return html`<span lang="en" dir="auto">${shown}</span>`;
  return progress !== null && html`<span dir="auto">${progressText(progress, progressWords(words))}</span>`;
}

/** For `progressText`. */
export function progressWords({ job, myPastes }: Words): ProgressWords {
  return { pastes: `${job.pastes}: {count}`, entries: myPastes.selected };
}
