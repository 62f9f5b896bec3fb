import { fileNameOf, languageOf, type Language } from '@pasteflow/domain';
import { MAX_LINE_CHARACTERS, MAX_LINES, type TextWarnings } from '../content/paste-lines.ts';
import { tabSizeOf } from '../content/tab-size.ts';
import { formatNumber, formatSize } from '../html/formats.ts';
import { html, type Html } from '../html/html.ts';
import { frame, page, type Site } from '../html/layout.ts';
import type { Words } from '../words/translation.ts';
import { deletion } from './deletion.ts';
import { heading, kindName } from './heading.ts';
import { command, linkButton, linesButton, openGraph } from './share.ts';
import { changeLink, editLink } from './newer-version.ts';
import { titleOf, type ShownPaste } from './shown-paste.ts';

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
    head: openGraph(site, paste, {
      title: titleOf(site.words, paste),
      kind: kindName(site.words, paste, language),
    }),
  });
  const head = html`${heading(site, paste, language)}
${note}${statusLines(site.words)}
${codeHead(site, language, above(language))}`;
  return {
    language: language?.id ?? '',
    head: before + head.markup,
    tail: (warnings) => html`${codeTail(site.words, warnings)}${below}`.markup + after,
  };
}

/** Where the browser says what it does, and which lines are selected. */
export function statusLines({ paste: text }: Words): Html {
  return html`<p id="paste-status" role="status" class="hint"></p>
<p id="selected-lines" role="status" class="visually-hidden" data-one="${text.lineSelected}" data-several="${text.linesSelected}" data-missing="${text.lineMissing}"></p>`;
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

/** Links work without JavaScript; the buttons need it and are hidden without it. */
export function bar(site: Site, paste: ShownPaste, language: Language | null): Html {
  const { paste: text } = site.words;
  const raw = rawOf(site, paste);
  return html`<div class="bar">
${linkButton(site.words, paste.url, 'primary')}
<a class="button raw" href="${raw}" aria-keyshortcuts="r">${text.raw}</a>
<a class="button" href="${raw}" download="${fileNameOf(paste.title, paste.short_code)}">${text.download}</a>
${moreMenu(site, paste)}
${linesButton(site.words, new URL(paste.short_code, paste.url).href)}
<div class="right">${language?.id === 'markdown' && views(site, paste.size_bytes)}${wrapButton(site.words)}${copyButton(site.words, raw)}</div>
</div>`;
}

function rawOf({ base }: Site, { short_code: code }: ShownPaste): string {
  return `${base}/v1/pastes/${code}/content`;
}

/** What is seldom wanted of a paste, or has no room in the bar of a phone. The paste may have several files. */
export function moreMenu(site: Site, paste: ShownPaste): Html {
  const { paste: text } = site.words;
  return html`<details class="menu"><summary>${text.more}</summary><div>
${
  paste.files === null &&
  html`<a class="button raw" href="${rawOf(site, paste)}">${text.raw}</a>
`
}<a class="button" id="fork" href="${site.base}/${paste.short_code}/new">${text.fork}</a>
${paste.deletion === 'token' && html`${editLink(site, paste)}${changeLink(site, paste, html` class="button"`)}\n`}${
    paste.files === null &&
    html`<button type="button" id="copy-markdown" data-done="${text.copied}" data-failed="${text.copyFailed}" hidden>${text.copyMarkdown}</button>
`
  }${qrButton(site.words, paste.url, text.qrOf(paste.url))}
<form id="line-form" class="line-form" data-wrong="${text.linesWrong}" hidden><label for="lines">${text.lines}</label><input id="lines" size="8" dir="ltr" placeholder="12-20" autocomplete="off" spellcheck="false">${
    paste.files !== null && html`<select id="lines-of" aria-label="${text.file}" autocomplete="off"></select>`
  }</form>
<form id="tab-form" class="line-form" hidden><label for="tabs">${text.tabSize}</label><select id="tabs" autocomplete="off"><option value="">${text.tabSizeAuto}<option>2<option>4<option>8</select></form>
${command(site.words, paste)}
</div></details>`;
}

export function wrapButton(words: Words): Html {
  return html`<button type="button" id="wrap" aria-pressed="false" aria-keyshortcuts="w" hidden>${words.paste.wrap}</button>
`;
}

export function qrButton(words: Words, url: string, label: string): Html {
  return html`<button type="button" id="qr" data-url="${url}" data-label="${label}" aria-expanded="false" aria-keyshortcuts="q" hidden>${words.paste.qr}</button>`;
}

/**
 * @param raw the address of the exact text; null: only the page has the text
 * @param weight `primary` on a page that has no link to copy
 */
export function copyButton({ paste: text }: Words, raw: string | null, weight = ''): Html {
  return html`<button type="button" id="copy" class="${weight}"${raw !== null && html` data-raw="${raw}"`} data-done="${text.copied}" data-failed="${text.copyFailed}" aria-keyshortcuts="c" hidden>${text.copy}</button>`;
}

/** A larger text stays source: Chromium takes more than a second to show one of this size. */
const MAX_RENDERED_BYTES = 256 * 1024;

function views(site: Site, size: number): Html {
  return viewsOf(site, size, html` id="views" ${viewData(site)}`);
}

/** The choice between a Markdown text as it looks and its source. @param attributes of the group */
export function viewsOf({ words }: Site, size: number, attributes: Html | false = false): Html {
  const { paste: text } = words;
  if (size > MAX_RENDERED_BYTES)
    return html`<span class="hint">${text.sourceOnly(formatSize(MAX_RENDERED_BYTES, words))}</span>\n`;
  return html`<div${attributes} class="views" role="group" aria-label="${text.views}" data-pending hidden><button type="button" aria-pressed="true">${text.source}</button><button type="button"
aria-pressed="false">${text.rendered}</button></div><noscript><span class="hint">${text.needsScript}</span></noscript>\n`;
}

/** What the browser needs to show Markdown as it looks. */
export function viewData({ asset, words }: Site): Html {
  const { paste: text } = words;
  return html`data-markdown="${asset('markdown-worker.js')}" data-styles="${asset('markdown.css')}" data-image="${text.image}"
data-alerts="${JSON.stringify(text.alerts)}" data-busy="${text.rendering}" data-failed="${text.notRendered}" data-missing="${text.notLoaded}"`;
}

export function warningsHtml(words: Words, { bidi, notUtf8, longLines, cut }: TextWarnings): Html {
  const { paste: text } = words;
  const shown = [
    bidi && text.bidi,
    notUtf8 && text.notUtf8,
    longLines && text.longLines(formatNumber(MAX_LINE_CHARACTERS, words)),
    cut && text.cut(formatNumber(MAX_LINES, words)),
  ];
  return html`${shown.map((warning) => warning !== false && html`<p class="warning" role="note" dir="${words.direction}">${warning}</p>\n`)}`;
}
