import {
  fileNameOf,
  languageOf,
  languages,
  type Language,
  type StoredOption,
  type StoredOptions,
} from '@pasteflow/domain';
import { MAX_LINE_CHARACTERS, MAX_LINES, type TextWarnings } from '../content/paste-lines.ts';
import { tabSizeOf } from '../content/tab-size.ts';
import { formatNumber, formatSize, formatTime, languageName } from '../html/formats.ts';
import { html, type Html } from '../html/html.ts';
import { formUser, frame, page, type Site } from '../html/layout.ts';
import type { Words } from '../words/translation.ts';
import { command, linkButton, linesButton, openGraph, type SharedPaste } from './share.ts';
import { changeLink, editLink, versionNotes } from './newer-version.ts';

/** What the page shows of a paste. The times are in ISO 8601. */
export interface ShownPaste extends SharedPaste {
  readonly short_code: string;
  readonly status: 'IN_PROGRESS' | 'PROCESSED' | 'FAILED';
  /** The page has just deleted the paste, which therefore no longer expires. Default: false. */
  readonly isDeleted?: boolean;
  /** Which version of a slug the paste is, and the newest that the reader can read. Default: of none. */
  readonly version?: { readonly number: number; readonly newest: number };
  /** The newest version, where that is another one and the reader can read it. Default: none. */
  readonly newer?: string | undefined;
  /** The slug that the reader, as its owner, can move from another paste to this one. Default: none. */
  readonly movable?: { readonly slug: string; readonly from: string } | null;
  /** The reader wants to see a content that is no text as one. Default: false. */
  readonly isBinaryText?: boolean;
  readonly created_at: string;
  readonly expires_at: string | null;
  /**
   * How the reader may delete the paste: with the token of its creation, or as its owner; null: not at all.
   */
  readonly deletion: 'token' | 'owner' | null;
}

/**
 * The page of a stored paste in two parts, between which the text is written as it arrives.
 * @param firstText the first characters of the text, which may name its language
 */
export function pastePage(site: Site, paste: ShownPaste, firstText: string): TextPage {
  return textPage(site, paste, firstText, {
    above: (language) => bar(site, paste, language),
    below: deletion(site, paste),
  });
}

/** A page in two parts, between which the text is written as it arrives. */
export interface TextPage {
  readonly head: string;
  readonly tail: (warnings: TextWarnings) => string;
  readonly language: string; // its id; empty: unknown
}

export function textPage(
  site: Site,
  paste: ShownPaste,
  firstText: string,
  {
    note = false,
    above,
    below,
  }: {
    readonly note?: Html | false;
    /** The bar of the code. */
    readonly above: (language: Language | null) => Html;
    readonly below: Html | false;
  },
): TextPage {
  const language = languageOf(paste, firstText);
  const { before, after } = frame(site, {
    title: titleOf(site.words, paste),
    scripts: ['paste.js'],
    hasStylesInside: true,
    head: openGraph(site.words, paste, {
      title: titleOf(site.words, paste),
      kind: kindName(site.words, paste, language),
    }),
  });
  const head = html`${heading(site, paste, language)}
${note}<p id="paste-status" role="status" class="hint"></p>
<p id="selected-lines" role="status" class="visually-hidden" data-one="${site.words.paste.lineSelected}" data-several="${site.words.paste.linesSelected}" data-missing="${site.words.paste.lineMissing}"></p>
${codeHead(site, language, above(language))}`;
  return {
    language: language?.id ?? '',
    head: before + head.markup,
    tail: (warnings) => html`${codeTail(site.words, warnings)}${below}`.markup + after,
  };
}

export function codeHead(site: Site, language: Language | null, above: Html): Html {
  return html`<div class="code">
${above}
<section id="content" class="content" dir="ltr" aria-label="${site.words.paste.content}" data-language="${language?.id ?? ''}" data-tab="${tabSizeOf(language?.id ?? '')}" data-worker="${site.asset('worker.js')}" tabindex="0">
`;
}

export function codeTail(words: Words, warnings: TextWarnings): Html {
  return html`${warningsHtml(words, warnings)}</section>\n</div>\n`;
}

export function titleOf(words: Words, paste: ShownPaste): string {
  const { title, short_code } = paste;
  return title ?? `${untitled(words, paste)} ${short_code}`;
}

function untitled(words: Words, { encrypted }: ShownPaste): string {
  return encrypted ? words.encrypted.title : words.paste.untitled;
}

/** The page of a paste whose upload is in progress: it reloads by itself, also without JavaScript. */
export function pendingPastePage(site: Site, paste: ShownPaste): string {
  return page(site, {
    title: titleOf(site.words, paste),
    scripts: ['pending-paste.js'],
    hasStylesInside: true,
    head: html`<noscript><meta http-equiv="refresh" content="2"></noscript>\n`,
    main: html`${heading(site, paste, languageOf(paste))}
<p id="pending" class="pending" role="status" data-events="${site.base}/v1/pastes/${paste.short_code}/events"><span class="spinner" aria-hidden="true"></span> ${site.words.paste.inProgress}</p>`,
  });
}

export function deletedPage(site: Site): string {
  const { deleted, deletedText } = site.words.paste;
  return page(site, {
    title: deleted,
    main: html`<div class="card"><h1>${deleted}</h1>
<p>${deletedText}</p>
<p><a class="button" href="${site.base}/">${site.words.problem.back}</a></p></div>`,
  });
}

/**
 * The title with its badges, and the facts in one line.
 * @param kind of a content that is no text
 */
export function heading(
  site: Site,
  paste: ShownPaste,
  language: Language | null,
  kind: string | null = null,
): Html {
  const { paste: text } = site.words;
  const { base } = site;
  const timeline = `${base}/${paste.short_code}/timeline`;
  const facts = [
    paste.slug !== null && html`<a href="${paste.url}" dir="ltr">~${paste.slug}</a>`,
    formatSize(paste.size_bytes, site.words),
    kind ?? (!paste.encrypted && languageFact(site, paste, language)),
    formatTime(paste.created_at, site.words),
    paste.isDeleted !== true && expiry(site.words, paste),
    paste.version !== undefined &&
      html`<a href="${base}/${paste.short_code}/history">${site.words.history.versionOf(paste.version.number, paste.version.newest)}</a>`,
    paste.parent !== null && origin(site, paste, paste.parent),
    paste.status === 'PROCESSED'
      ? html`<a href="${timeline}">${text.timeline}</a>`
      : html`<a class="badge ${paste.status.toLowerCase()}" href="${timeline}">${text.upload} ${text.uploadStates[paste.status]}</a>`,
    paste.isDeleted !== true && paste.deletion === 'owner' && changeLink(site, paste),
    paste.isDeleted !== true &&
      paste.deletion !== 'owner' &&
      html`<a href="${base}/${paste.short_code}/report" rel="nofollow"${untilRead(paste)}>${site.words.report.link}</a>`,
  ];
  return html`<div class="heading"><h1><bdi>${paste.title ?? untitled(site.words, paste)}</bdi>${badges(site.words, paste)}</h1>
<div class="line">${facts.map((fact) => fact !== false && html`<span>${fact}</span>`)}<span class="paper" dir="ltr">${paste.url}</span></div>${paste.deletion === 'owner' && paste.isDeleted !== true && html`${editLink(site, paste)}${ownerMenu(site, paste)}`}</div>${paste.isHeld && html`\n<p class="notice attention">${site.words.report.held}</p>`}${versionNotes(site, paste)}`;
}

export function badges(words: Words, paste: StoredOptions): readonly Html[] {
  return Object.entries(words.paste.badges)
    .filter(([badge]) => paste[badge as StoredOption] === true || paste.visibility === badge)
    .map(([badge, word]) => html` <span class="badge ${badge}">${word}</span>`);
}

function expiry(words: Words, paste: ShownPaste): Html {
  const { expires_at: at } = paste;
  return html`<span${untilRead(paste)}>${at === null ? words.paste.neverExpiresLine : html`${words.paste.expiresLine} ${formatTime(at, words)}`}</span>`;
}

/** A script removes what is no longer true when the paste was read. */
function untilRead({ burn }: ShownPaste): Html | false {
  return burn && html` data-until-read`;
}

function origin({ base, words }: Site, { short_code, burn, encrypted }: ShownPaste, parent: string): Html {
  const { paste: text } = words;
  const changes = html` (<a href="${base}/${short_code}/diff" aria-keyshortcuts="d">${text.changes}</a>)`;
  return html`${words.diff.madeFrom} <a href="${base}/${parent}">${parent}</a>${!burn && !encrypted && changes}`;
}

/** The language, as a choice where the page can be shown in another one. */
function languageFact({ base, words }: Site, paste: ShownPaste, language: Language | null): Html | false {
  const { paste: text } = words;
  const isNamed = language !== null || paste.syntax !== null;
  const name = kindName(words, paste, language);
  if (paste.burn || paste.status !== 'PROCESSED') return isNamed && html`${name}`; // it may be a file
  const chosen = language?.id ?? 'text';
  return html`<form id="language" action="${base}/${paste.short_code}">${paste.isBinaryText === true && html`<input type="hidden" name="view" value="text">`}<select name="language"
aria-label="${text.language}">${languages.map((each) => html`<option value="${each.id}"${each.id === chosen && html` selected`}>${languageName(each, words)}`)}</select><noscript> <button>${text.show}</button></noscript></form><span class="paper">${name}</span>`;
}

function kindName(words: Words, { syntax }: ShownPaste, language: Language | null): string {
  return language === null ? (syntax ?? words.paste.plainText) : languageName(language, words);
}

/** Links work without JavaScript; the buttons need it and are hidden without it. */
export function bar(site: Site, paste: ShownPaste, language: Language | null): Html {
  const { paste: text } = site.words;
  const raw = `${site.base}/v1/pastes/${paste.short_code}/content`;
  return html`<div class="bar">
${linkButton(site.words, paste.url)}
<a class="button" href="${raw}" aria-keyshortcuts="r">${text.raw}</a>
<a class="button" href="${raw}" download="${fileNameOf(paste.title, paste.short_code)}">${text.download}</a>
<details class="menu"><summary>${text.more}</summary><div>
<a class="button" id="fork" href="${site.base}/${paste.short_code}/new">${text.fork}</a>
${paste.deletion === 'token' && html`${editLink(site, paste)}${changeLink(site, paste, html` class="button"`)}\n`}<button type="button" id="copy-markdown" data-done="${text.copied}" data-failed="${text.copyFailed}" hidden>${text.copyMarkdown}</button>
${qrButton(site.words, paste.url, text.qrOf(paste.url))}
<form id="line-form" class="line-form" data-wrong="${text.linesWrong}" hidden><label for="lines">${text.lines}</label><input id="lines" size="8" dir="ltr" placeholder="12-20" autocomplete="off" spellcheck="false"></form>
<form id="tab-form" class="line-form" hidden><label for="tabs">${text.tabSize}</label><select id="tabs" autocomplete="off"><option value="">${text.tabSizeAuto}<option>2<option>4<option>8</select></form>
${command(site.words, paste)}
</div></details>
${linesButton(site.words, new URL(paste.short_code, paste.url).href)}
<div class="right">${language?.id === 'markdown' && views(site, paste)}${wrapButton(site.words)}${copyButton(site.words, raw)}</div>
</div>`;
}

export function wrapButton(words: Words): Html {
  return html`<button type="button" id="wrap" aria-pressed="false" aria-keyshortcuts="w" hidden>${words.paste.wrap}</button>
`;
}

export function qrButton(words: Words, url: string, label: string): Html {
  return html`<button type="button" id="qr" data-url="${url}" data-label="${label}" aria-expanded="false" aria-keyshortcuts="q" hidden>${words.paste.qr}</button>`;
}

/** @param raw the address of the exact text; null: only the page has the text */
export function copyButton({ paste: text }: Words, raw: string | null): Html {
  return html`<button type="button" id="copy" class="primary"${raw !== null && html` data-raw="${raw}"`} data-done="${text.copied}" data-failed="${text.copyFailed}" aria-keyshortcuts="c" hidden>${text.copy}</button>`;
}

/** A larger text stays source: Chromium takes more than a second to show one of this size. */
const MAX_RENDERED_BYTES = 256 * 1024;

function views(site: Site, { size_bytes: size }: ShownPaste): Html {
  const { paste: text } = site.words;
  if (size > MAX_RENDERED_BYTES)
    return html`<span class="hint">${text.sourceOnly(formatSize(MAX_RENDERED_BYTES, site.words))}</span>\n`;
  return html`<div id="views" class="views" role="group" aria-label="${text.views}"
data-worker="${site.asset('markdown-worker.js')}" data-styles="${site.asset('markdown.css')}"
data-image="${text.image}" data-alerts="${JSON.stringify(text.alerts)}" data-busy="${text.rendering}" data-failed="${text.notRendered}"
data-missing="${text.notLoaded}" data-pending hidden><button type="button" aria-pressed="true">${text.source}</button><button type="button"
aria-pressed="false">${text.rendered}</button></div><noscript><span class="hint">${text.needsScript}</span></noscript>\n`;
}

function warningsHtml(words: Words, { bidi, notUtf8, longLines, cut }: TextWarnings): Html {
  const { paste: text } = words;
  const shown = [
    bidi && text.bidi,
    notUtf8 && text.notUtf8,
    longLines && text.longLines(formatNumber(MAX_LINE_CHARACTERS, words)),
    cut && text.cut(formatNumber(MAX_LINES, words)),
  ];
  return html`${shown.map((warning) => warning !== false && html`<p class="warning" role="note" dir="${words.direction}">${warning}</p>\n`)}`;
}

/** What the holder of the delete token can do. It stands at the foot of a page that has no menu. */
export function withToken(site: Site, paste: ShownPaste): Html | false {
  if (paste.deletion !== 'token') return false;
  return html`${deletion(site, paste)}\n<p class="hint">${changeLink(site, paste)}</p>`;
}

/** Whoever has the token may delete the paste. Its owner does so in the heading. */
export function deletion(site: Site, paste: ShownPaste): Html | false {
  if (paste.deletion !== 'token') return false;
  const { paste: text } = site.words;
  return html`<details class="deletion"${untilRead(paste)}><summary>${text.deleteTitle}</summary>
${deletionForm(site, paste)}</details>`;
}

/** What only the owner can do. */
function ownerMenu(site: Site, paste: ShownPaste): Html {
  return html`<details class="menu"${untilRead(paste)}><summary>${site.words.paste.deleteMenu}</summary><div>${deletionForm(site, paste)}</div></details>`;
}

function deletionForm(site: Site, { short_code, deletion: by }: ShownPaste): Html {
  const { paste: text } = site.words;
  return html`<form method="post" action="${site.base}/${short_code}/delete" enctype="multipart/form-data">${formUser(site)}
<p class="hint">${by === 'owner' ? text.deleteOwnHint : text.deleteHint}</p>
${
  by === 'token' &&
  html`<label for="delete_token">${text.deleteToken}</label>
<input id="delete_token" name="delete_token" type="password" autocomplete="off" required>
`
}<button class="danger" type="submit">${text.deleteButton}</button>
</form>`;
}
