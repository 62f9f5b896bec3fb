import { languageOf, type Visibility } from '@pasteflow/domain';
import { BIDI_MARK, REPLACED, textMarkup } from '../content/paste-lines.ts';
import { formatNumber, formatSize, formatTime } from '../html/formats.ts';
import { Html, html } from '../html/html.ts';
import { page, type Site } from '../html/layout.ts';
import type { Words } from '../words/translation.ts';
import { type ShownPaste, titleOf } from './shown-paste.ts';
import { detailOf, type ShownProblem } from './problem.ts';

/** Lines that follow one another and have the same fate. */
interface ShownRun {
  readonly kind: 'same' | 'removed' | 'added';
  readonly text: string;
  /** The parts of the text with words that the line at this place in the other text does not have. */
  readonly marks: readonly (readonly [start: number, end: number])[];
  readonly lines: number;
  /** The number of the first line in the old and in the new text, from 1. */
  readonly oldNumber: number;
  readonly newNumber: number;
}

/** Changes that are close to one another. */
export interface ShownHunk {
  readonly oldNumber: number;
  readonly newNumber: number;
  readonly runs: readonly ShownRun[];
}

/** The changes of a text: of the whole paste, or of one of its files. */
export interface ShownChanges {
  /** null: the paste has no files. */
  readonly file: ShownFileChange | null;
  readonly hunks: readonly ShownHunk[];
  /** The first characters of the text, which may name its language. */
  readonly firstText: string;
}

interface ShownFileChange {
  readonly kind: 'changed' | 'added' | 'removed' | 'renamed';
  readonly name: string;
  readonly syntax: string | null;
  /** The name before; the same for a file that was not renamed. */
  readonly oldName: string;
}

/** A paste, and the one with which it is compared. */
export interface ShownPair {
  readonly paste: ShownPaste;
  readonly older: ShownPaste;
}

/** The page that shows what has changed since another paste. */
export function diffPage(
  site: Site,
  pair: ShownPair,
  {
    changes,
    lineEndsDiffer,
  }: { readonly changes: readonly ShownChanges[]; readonly lineEndsDiffer: boolean },
): string {
  const { diff: text, paste: warnings } = site.words;
  const hunks = changes.flatMap((each) => each.hunks);
  const all = hunks.flatMap(({ runs }) => runs.map((run) => run.text)).join('');
  const notes = [
    lineEndsDiffer && text.lineEnds,
    BIDI_MARK.test(all) && warnings.bidi,
    REPLACED.test(all) && text.notUtf8,
  ];
  const isEqual = changes.every(({ file }) => file === null) && hunks.length === 0;
  return page(site, {
    title: text.title(titleOf(site.words, pair.paste)),
    scripts: ['diff.js'],
    main: html`${heading(site, pair, hunks)}
${isEqual && html`<p class="notice">${text.equal}</p>\n`}${notes.map(
      (note) => note !== false && html`<p class="warning" role="note">${note}</p>\n`,
    )}<div id="changes" data-worker="${site.asset('worker.js')}">
${changes.map((each) => changesHtml(site.words, pair.paste, each))}</div><p class="hint">${text.command} <code
dir="ltr">${commandOf(pair)}</code></p>`,
  });
}

function changesHtml(words: Words, paste: ShownPaste, { file, hunks, firstText }: ShownChanges): Html {
  const named = file === null ? paste : { syntax: file.syntax, title: file.name };
  return html`<div data-language="${languageOf(named, firstText)?.id ?? ''}">
${file !== null && fileHeading(words, file)}${hunks.map((hunk) => hunkHtml(words, hunk, file))}</div>
`;
}

/** What has become of a file that was only renamed is said, and not shown. */
function fileHeading({ diff: { files: text } }: Words, { kind, name, oldName }: ShownFileChange): Html {
  return html`<h2><bdi>${name}</bdi> <span class="badge">${text[kind]}</span></h2>
${kind === 'renamed' && html`<p>${text.before} <bdi>${oldName}</bdi></p>\n`}`;
}

function commandOf({ paste, older }: ShownPair): string {
  return older.short_code === paste.parent
    ? `curl ${paste.url}/diff`
    : `curl '${paste.url}/diff?from=${older.short_code}'`;
}

/** The page of two pastes that are not compared. */
export function diffRefusedPage(
  site: Site,
  pair: ShownPair,
  problem: Pick<ShownProblem, 'code' | 'detail'>,
): string {
  return page(site, {
    title: site.words.diff.title(titleOf(site.words, pair.paste)),
    scripts: ['timeline.js'], // which shows the times relative to now
    main: html`${heading(site, pair, null)}
<div class="notice attention">${detailOf(site.words, problem)}</div>`,
  });
}

/** @param hunks null: the pastes are not compared */
function heading(site: Site, { paste, older }: ShownPair, hunks: readonly ShownHunk[] | null): Html {
  const { diff: text } = site.words;
  const count = (kind: ShownRun['kind']): string => formatNumber(linesOf(hunks ?? [], kind), site.words);
  return html`<p><a href="${site.base}/${paste.short_code}">${site.words.back(site.words.timeline.back)}</a></p>
<h1>${text.heading} <bdi>${titleOf(site.words, paste)}</bdi></h1>
<dl class="facts">
<div><dt>${text.from}</dt><dd>${links(site, older)}</dd></div>
<div><dt>${text.to}</dt><dd>${links(site, paste)}</dd></div>
${hunks !== null && hunks.length > 0 && html`<div><dt>${text.lines}</dt><dd>${text.counts(count('added'), count('removed'))}</dd></div>\n`}</dl>`;
}

/** A paste with who has made it and when. */
function links({ base, words }: Site, { short_code: code, deletion: by, created_at: at }: ShownPaste): Html {
  const { diff: text } = words;
  return html`<a href="${base}/${code}">${code}</a> (<a href="${base}/v1/pastes/${code}/content" aria-label="${text.rawOf(code)}">${words.paste.raw}</a>) ${text.by[by ?? 'other']}, ${formatTime(at, words)}`;
}

function linesOf(hunks: readonly ShownHunk[], kind: ShownRun['kind']): number {
  return hunks
    .flatMap(({ runs }) => runs)
    .reduce((sum, run) => (run.kind === kind ? sum + run.lines : sum), 0);
}

/** Two files may have changes from the same lines: the label of a region says of which file it is. */
function hunkHtml(
  words: Words,
  { oldNumber, newNumber, runs }: ShownHunk,
  file: ShownFileChange | null,
): Html {
  const lines = words.diff.hunk(oldNumber, newNumber);
  const label = file === null ? lines : `${file.name}: ${lines}`;
  return html`<section class="content diff" dir="ltr" aria-label="${label}" tabindex="0">
${runs.map((run) => runHtml(words, run))}</section>
`;
}

const SIGNS = { same: ' ', removed: '-', added: '+' } as const;

/** The signs and the names of the groups tell what has changed also to those who see no colours. */
function runHtml({ diff }: Words, { kind, text, marks, lines, oldNumber, newNumber }: ShownRun): Html {
  const numbers = (first: number, are: boolean): string =>
    are ? column(lines, (n) => String(first + n)) : '';
  const shown = new Html(markedText(text, marks));
  const marked =
    kind === 'removed' ? html`<del>${shown}</del>` : kind === 'added' ? html`<ins>${shown}</ins>` : shown;
  const group = kind === 'same' ? null : html` role="group" aria-label="${diff.groups[kind]}"`;
  return html`<div class="change ${kind}"${group}><div class="numbers"
aria-hidden="true">${numbers(oldNumber, kind !== 'added')}</div>
<div class="numbers" aria-hidden="true">${numbers(newNumber, kind !== 'removed')}</div>
<div class="signs" aria-hidden="true">${column(lines, () => SIGNS[kind])}</div><pre>
${marked}</pre>${!text.endsWith('\n') && html`<span class="no-newline">${diff.noNewline}</span>`}</div>
`;
}

function markedText(text: string, marks: ShownRun['marks']): string {
  let at = 0;
  let markup = '';
  for (const [start, end] of marks) {
    markup += `${textMarkup(text.slice(at, start))}<mark>${textMarkup(text.slice(start, end))}</mark>`;
    at = end;
  }
  return markup + textMarkup(text.slice(at));
}

function column(count: number, cell: (n: number) => string): string {
  return Array.from({ length: count }, (_, n) => cell(n)).join('\n');
}

/** A version that the reader can read. `named_at` is in ISO 8601. */
interface ShownVersion {
  readonly number: number;
  readonly short_code: string;
  readonly title: string | null;
  readonly size_bytes: number;
  readonly visibility: Visibility;
  readonly parent: string | null;
  readonly named_at: string;
}

/**
 * The versions of a paste, newest first.
 * @param paste by which they were found, and whether the reader may make a newer version
 */
export function historyPage(
  site: Site,
  {
    short_code,
    slug,
    mayEdit,
  }: { readonly short_code: string; readonly slug: string | null; readonly mayEdit: boolean },
  versions: readonly ShownVersion[],
): string {
  const { history: text } = site.words;
  const name = slug === null ? short_code : `~${slug}`;
  const [newest, before] = versions;
  const compared =
    before === undefined ? null : newest?.short_code === short_code ? before.short_code : short_code;
  return page(site, {
    title: text.title(name),
    scripts: ['timeline.js'], // which shows the times relative to now
    main: html`<p><a href="${site.base}/${name}">${site.words.back(site.words.timeline.back)}</a></p>
<h1>${text.title(name)}</h1>
<p class="hint">${text.intro}${compared !== null && html` ${text.compareHint}`}</p>
<form method="get" action="${site.base}/${newest?.short_code ?? short_code}/diff"><ul class="rows versions">
${versions.map((version, n) => row(site, version, { before: versions[n + 1], isNewest: n === 0, mayEdit, compared }))}</ul></form>`,
  });
}

interface Row {
  readonly before: ShownVersion | undefined;
  readonly isNewest: boolean;
  readonly mayEdit: boolean;
  /** The version that is chosen for a comparison; null: there is only one. */
  readonly compared: string | null;
}

/** The changes are those since the parent, so that they are shown where the parent is the version before. */
function row(
  { base, words }: Site,
  version: ShownVersion,
  { before, isNewest, mayEdit, compared }: Row,
): Html {
  const { history: text, paste } = words;
  const { number, short_code, title, size_bytes, visibility, parent, named_at } = version;
  const hasChanges = before !== undefined && before.short_code === parent;
  return html`<li><div>
<p><a href="${base}/${short_code}"><strong>${text.version(number)}</strong></a> <bdi>${title ?? paste.untitled}</bdi>${
    visibility !== 'unlisted' && html` <span class="badge ${visibility}">${paste.badges[visibility]}</span>`
  }</p>
<p class="line"><span>${short_code}</span><span>${formatSize(size_bytes, words)}</span><span>${formatTime(named_at, words)}</span>${
    hasChanges && html`<span><a href="${base}/${short_code}/diff">${paste.changes}</a></span>`
  }</p></div>${
    compared !== null &&
    html`<input type="radio" name="from" value="${short_code}" aria-label="${text.compareFrom(number)}"${compared === short_code && html` checked`}>
<button formaction="${base}/${short_code}/diff" aria-label="${text.compareWith(number)}">${text.compare}</button>`
  }${
    mayEdit &&
    html`<a class="button" href="${base}/${short_code}/edit"${!isNewest && html` aria-label="${text.restoreOne(number)}"`}>${isNewest ? paste.edit : text.restore}</a>`
  }</li>\n`;
}
