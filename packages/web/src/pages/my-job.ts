import { formatNumber, formatSize, formatTime } from '../html/formats.ts';
import { html, type Html, table } from '../html/html.ts';
import { formUser, page, type Site } from '../html/layout.ts';
import { progressText } from '../html/progress-text.ts';
import type { Words } from '../words/translation.ts';
import {
  nameOf,
  percent,
  progressWords,
  stateBadge,
  typeOf,
  withoutFieldNames,
  type OwnJob,
} from './my-jobs.ts';

/** A paste or a file that a job has made. */
interface MadeAsset {
  readonly url: string;
  readonly asset_type: string;
  /** Of a file that a job type of the operator's own has saved; null: any other asset. */
  readonly name: string | null;
  readonly file_size: number;
  /** Of an archive of an export, from 1; null: no archive. */
  readonly number: number | null;
  /** The title of a paste; null: none. */
  readonly title: string | null;
  /** How many files a paste has; null: it is one content without files. */
  readonly fileCount: number | null;
}

export interface MyJob extends OwnJob {
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly result: Readonly<Record<string, unknown>> | null;
  /** The newest. */
  readonly assets: readonly MadeAsset[];
  readonly hasMoreAssets: boolean;
  /** The job that this one retries, and the one that retries it; null: none. */
  readonly retry_of: string | null;
  readonly retried_as: string | null;
  readonly canRetry: boolean;
}

/** A job: its progress while it runs, and then what it did. */
export function myJobPage(site: Site, job: MyJob): string {
  const { job: text } = site.words;
  const isOpen = job.completed_at === null;
  const title = job.title ?? typeOf(site.words, job.job_type);
  return page(site, {
    title,
    scripts: ['my-job.js'],
    place: '/my/jobs',
    ...(isOpen && { head: html`<noscript><meta http-equiv="refresh" content="2"></noscript>\n` }),
    main: html`<p><a href="${site.base}/my/jobs">${site.words.back(site.words.myJobs.title)}</a></p>
<h1>${nameOf(site.words, job)}</h1>
<dl class="facts">
<div><dt>${text.state}</dt><dd>${stateBadge(site.words, job, html` id="job-state" data-processing="${text.states.processing}"`)}</dd></div>
<div><dt>${site.words.paste.created}</dt><dd>${formatTime(job.created_at, site.words)}</dd></div>
${job.completed_at !== null && html`<div><dt>${text.ended}</dt><dd>${formatTime(job.completed_at, site.words)}</dd></div>`}
${jobLink(site, text.retryOf, job.retry_of)}${jobLink(site, text.retriedAs, job.retried_as)}</dl>
${isOpen && progress(site, job)}
${job.error_message !== null && html`<p class="${errorClass(job)}" lang="en" dir="auto">${withoutFieldNames(job.error_message)}</p>`}
${job.canRetry && retry(site, job)}
${job.result !== null && (isOwn(site.words, job) ? factsOf(site.words, job.result) : resultOf(site.words, job.result, job))}
${assetsOf(site, job)}
${isOpen && cancellation(site, job)}`,
  });
}

function errorClass({ status, isCancelled }: MyJob): string {
  if (isCancelled) return 'hint';
  return status === 'partial' ? 'notice attention' : 'notice bad';
}

function jobLink(
  { base }: Site,
  { name, link }: { readonly name: string; readonly link: string },
  id: string | null,
): Html | false {
  return (
    id !== null && html`<div><dt>${name}</dt><dd><a href="${base}/my/jobs/${id}">${link}</a></dd></div>\n`
  );
}

function retry(site: Site, { id, job_type: jobType }: MyJob): Html {
  const { job: text } = site.words;
  return html`<form method="post" action="${site.base}/my/jobs/${id}/retry">${formUser(site)}
${jobType === 'import' && html`<p class="hint">${text.retryHint}</p>`}
<button type="submit">${text.retry}</button>
</form>`;
}

function cancellation(site: Site, { id }: MyJob): Html {
  const { job: text } = site.words;
  return html`<details class="deletion"><summary>${text.cancel}</summary>
<form method="post" action="${site.base}/my/jobs/${id}/cancel">${formUser(site)}
<p class="hint">${text.cancelHint}</p>
<button class="danger" type="submit">${text.cancelButton}</button>
</form></details>`;
}

export function progress({ base, words }: Site, job: OwnJob): Html {
  const { job: text } = words;
  const texts = progressWords(words);
  return html`<div id="job" class="pending column" data-events="${base}/v1/jobs/${job.id}/events">
<progress id="job-progress" max="100" value="${job.progress}" aria-label="${text.progress}"></progress>
<p role="status"><span id="job-percent">${percent(job.progress, words)}</span> <span id="job-message" dir="auto"
data-words="${JSON.stringify(texts)}">${job.progress_message === null ? job.status === 'queued' && text.waiting : progressText(job.progress_message, texts)}</span></p>
</div>`;
}

/** Whether the type is one of the operator's own, of which the pages know no more than its name. */
function isOwn(words: Words, { job_type: type }: MyJob): boolean {
  return !Object.hasOwn(words.job.types, type);
}

/** As the type has written it. */
function factsOf(words: Words, result: Readonly<Record<string, unknown>>): Html | false {
  const facts = Object.entries(result).map(
    ([name, value]) =>
      html`<div lang="en"><dt dir="auto">${name}</dt><dd dir="auto">${typeof value === 'string' ? value : JSON.stringify(value)}</dd></div>\n`,
  );
  return facts.length > 0 && html`<h2>${words.job.result}</h2>\n<dl class="facts">${facts}</dl>`;
}

/** What is rare, and worth a word only when there is some. */
const ONLY_IF_ANY: ReadonlySet<string> = new Set(['failed', 'skipped', 'missing_count', 'left_out']);

/** The counts, and the lists of what went wrong. */
function resultOf(
  words: Words,
  result: Readonly<Record<string, unknown>>,
  { parameters }: Pick<MyJob, 'parameters'>,
): Html {
  const counts = Object.entries(words.job.counts).flatMap(([name, label]) => {
    const value = result[name];
    if (typeof value !== 'number' || (value === 0 && ONLY_IF_ANY.has(name))) return [];
    return [
      html`<div><dt>${label}</dt><dd>${name === 'bytes' ? formatSize(value, words) : formatNumber(value, words)}</dd></div>\n`,
    ];
  });
  return html`${counts.length > 0 && html`<h2>${words.job.result}</h2>\n<dl class="facts">${counts}</dl>`}
${errorsOf(words, result['errors'], typeof parameters['source_short_code'] === 'string')}${missingOf(words, result['missing'])}`;
}

/** @param isFile the entries are those of a file: only NDJSON has entries without names, and counts lines */
function errorsOf(words: Words, errors: unknown, isFile: boolean): Html | false {
  if (!Array.isArray(errors) || errors.length === 0) return false;
  const { job: text } = words;
  const hasNames = errors.some(({ name }: Readonly<Record<string, unknown>>) => typeof name === 'string');
  const rows = errors.map((each: Readonly<Record<string, unknown>>) => {
    const { position, name, reason } = each;
    return html`<tr><td class="number">${placeOf(text, position, isFile && name === null)}</td>${
      hasNames && html`<td class="title" dir="auto">${textOf(name)}</td>`
    }<td class="title" lang="en" dir="auto">${textOf(reason)}</td></tr>\n`;
  });
  const heads = [text.position, ...(hasNames ? [text.name] : []), text.reason];
  return html`<h2>${text.errors}</h2>\n${table(text.errors, heads, rows)}`;
}

function missingOf(words: Words, missing: unknown): Html | false {
  if (!Array.isArray(missing) || missing.length === 0) return false;
  const { job: text } = words;
  const rows = missing.map(
    (each: Readonly<Record<string, unknown>>) =>
      html`<tr><td>${textOf(each['short_code'])}</td><td class="title" lang="en" dir="auto">${textOf(each['reason'])}</td></tr>\n`,
  );
  return html`<h2>${text.missing}</h2>\n${table(text.missing, [words.myPastes.paste, text.reason], rows)}`;
}

/** People count from 1; the API counts from 0. */
function placeOf({ entry, line }: Words['job'], position: unknown, isLine: boolean): string {
  if (typeof position !== 'number') return '';
  return (isLine ? line : entry)(position + 1);
}

/** The result is what the job type wrote. */
function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

function assetsOf(
  { base, words }: Site,
  { job_type: jobType, assets, hasMoreAssets, completed_at: completedAt, result }: MyJob,
): Html | false {
  const { job: text } = words;
  const isExport = jobType === 'export';
  if (assets.length === 0)
    return isExport && hasExported(result) && html`<p class="hint">${text.archivesRemoved}</p>`;
  const files = assets.filter(({ asset_type: type }) => type !== 'paste').toReversed();
  const pastes = assets.filter(({ asset_type: type }) => type === 'paste');
  return html`${files.map(
    ({ url, file_size: size, asset_type: type, name, number }) =>
      html`<p><a class="button primary" href="${url}">${isExport ? downloadOf(words, number, completedAt !== null && files.length === 1) : text.downloadOf(name ?? type.replaceAll('_', ' '))}</a></p>
<p class="hint">${formatSize(size, words)} · ${text.downloadHint}</p>\n`,
  )}${
    pastes.length > 0 &&
    completedAt !== null &&
    html`<h2>${text.pastes}</h2>
${hasMoreAssets && html`<p class="hint">${text.newestPastes(pastes.length)} <a href="${base}/my/pastes">${text.allPastes}</a></p>\n`}<ul class="made">${pastes.map(
      ({ url, title, fileCount }) =>
        html`<li><a href="${url}"><bdi>${title ?? url.split('/').at(-1)}</bdi></a>${fileCount !== null && html` <small>${words.paste.files(fileCount)}</small>`}</li>\n`,
    )}</ul>`
  }`;
}

/** The archives of older exports are removed, and their objects. */
function hasExported(result: MyJob['result']): boolean {
  return Number(result?.['archives'] ?? result?.['assets'] ?? result?.['exported'] ?? 0) > 0;
}

function downloadOf({ job: text }: Words, number: number | null, isOnly: boolean): string {
  return number === null || isOnly ? text.download : text.downloadArchive(number);
}
