import { fileNameOf } from '@pasteflow/domain';
import { languageOf, type Language } from '../content/languages.ts';
import { MAX_LINE_CHARACTERS, MAX_LINES, type TextWarnings } from '../content/paste-lines.ts';
import { formatSize, formatTime } from '../html/formats.ts';
import { html, type Html } from '../html/html.ts';
import { frame, page, type Site } from '../html/layout.ts';
import { words } from '../words.ts';

/** What the page shows of a paste. The times are in ISO 8601. */
export interface ShownPaste {
  readonly short_code: string;
  /** null: none. */
  readonly slug: string | null;
  readonly url: string;
  readonly status: 'IN_PROGRESS' | 'PROCESSED' | 'FAILED';
  readonly title: string | null;
  readonly syntax: string | null;
  /** The browser decrypts the content. */
  readonly encrypted: boolean;
  /** The paste is deleted when it is read. */
  readonly burn: boolean;
  /** The page has just deleted the paste, which therefore no longer expires. Default: false. */
  readonly isDeleted?: boolean;
  /** The short code of the paste that this one was made from; null: none. */
  readonly parent: string | null;
  readonly size_bytes: number;
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
    above: (language) => toolbar(site, paste, language),
    below: deletion(site, paste),
  });
}

/** A page in two parts, between which the text is written as it arrives. */
export interface TextPage {
  readonly head: string;
  readonly tail: (warnings: TextWarnings) => string;
}

export function textPage(
  site: Site,
  paste: ShownPaste,
  firstText: string,
  { above, below }: { readonly above: (language: Language | null) => Html; readonly below: Html | false },
): TextPage {
  const language = languageOf(paste, firstText);
  const { before, after } = frame(site, {
    title: titleOf(paste),
    scripts: ['paste.js'],
    hasStylesInside: true,
  });
  const head = html`${heading(site, paste, language)}
${above(language)}
<p id="paste-status" role="status" class="hint"></p>
<p id="selected-lines" role="status" class="hint" data-one="${words.paste.lineSelected}" data-several="${words.paste.linesSelected}" data-missing="${words.paste.lineMissing}"></p>
<section id="content" class="content" aria-label="${words.paste.content}" data-language="${language?.id ?? ''}" data-worker="${site.asset('worker.js')}" tabindex="0">
`;
  return {
    head: before + head.markup,
    tail: (warnings) => html`${warningsHtml(warnings)}</section>\n${below}`.markup + after,
  };
}

export function titleOf(paste: ShownPaste): string {
  const { title, short_code } = paste;
  return title ?? `${untitled(paste)} ${short_code}`;
}

function untitled({ encrypted }: ShownPaste): string {
  return encrypted ? words.encrypted.title : words.paste.untitled;
}

/** The page of a paste whose upload is in progress: it reloads by itself, also without JavaScript. */
export function pendingPastePage(site: Site, paste: ShownPaste): string {
  return page(site, {
    title: titleOf(paste),
    scripts: ['pending-paste.js'],
    hasStylesInside: true,
    head: html`<noscript><meta http-equiv="refresh" content="2"></noscript>\n`,
    main: html`${heading(site, paste, languageOf(paste))}
<p id="pending" class="pending" role="status" data-events="${site.base}/v1/pastes/${paste.short_code}/events"><span class="spinner" aria-hidden="true"></span> ${words.paste.inProgress}</p>`,
  });
}

export function deletedPage(site: Site): string {
  const { deleted, deletedText } = words.paste;
  return page(site, {
    title: deleted,
    main: html`<h1>${deleted}</h1>
<p>${deletedText}</p>
<p><a class="button" href="${site.base}/">${words.problem.back}</a></p>`,
  });
}

export function heading(site: Site, paste: ShownPaste, language: Language | null): Html {
  const { paste: text } = words;
  return html`<h1><bdi>${paste.title ?? untitled(paste)}</bdi></h1>
<dl class="facts">
${paste.slug !== null && html`<div><dt>${text.slug}</dt><dd><a href="${paste.url}">~${paste.slug}</a></dd></div>\n`}<div><dt>${text.size}</dt><dd>${formatSize(paste.size_bytes)}</dd></div>
${!paste.encrypted && html`<div><dt>${text.language}</dt><dd>${language?.name ?? paste.syntax ?? 'Plain text'}</dd></div>\n`}<div><dt>${text.created}</dt><dd>${formatTime(paste.created_at)}</dd></div>
${paste.isDeleted !== true && html`<div><dt>${text.expires}</dt><dd>${paste.expires_at === null ? text.neverExpires : formatTime(paste.expires_at)}</dd></div>\n`}<div><dt>${text.upload}</dt><dd><a href="${site.base}/${paste.short_code}/timeline">${text.uploadStates[paste.status]}</a></dd></div>
${origin(site, paste)}</dl>`;
}

function origin({ base }: Site, { parent, short_code, burn, encrypted }: ShownPaste): Html | false {
  if (parent === null) return false;
  const { paste: text } = words;
  const changes = html` (<a href="${base}/${short_code}/diff">${text.changes}</a>)`;
  return html`<div><dt>${words.diff.madeFrom}</dt><dd><a href="${base}/${parent}">${parent}</a>${!burn && !encrypted && changes}</dd></div>
`;
}

/** Links work without JavaScript; the buttons need it and are hidden without it. */
function toolbar(site: Site, paste: ShownPaste, language: Language | null): Html {
  const { paste: text } = words;
  const raw = `${site.base}/v1/pastes/${paste.short_code}/content`;
  return html`<div class="toolbar">
<button type="button" id="copy" data-raw="${raw}" data-done="${text.copied}" data-failed="${text.copyFailed}" hidden>${text.copy}</button>
<a class="button" href="${raw}">${text.raw}</a>
<a class="button" href="${raw}" download="${fileNameOf(paste.title, paste.short_code)}">${text.download}</a>
<button type="button" id="wrap" aria-pressed="false" hidden>${text.wrap}</button>
<button type="button" id="qr" data-url="${paste.url}" data-label="${text.qrOf(paste.url)}" aria-expanded="false" hidden>${text.qr}</button>
<a class="button" id="fork" href="${site.base}/${paste.short_code}/new">${text.fork}</a>
<form id="line-form" class="line-form" data-wrong="${text.linesWrong}" hidden><label for="lines">${text.lines}</label><input id="lines" size="8" placeholder="12-20" autocomplete="off" spellcheck="false"></form>
${language?.id === 'markdown' && views(site, paste)}</div>`;
}

/** A larger text stays source: Chromium takes more than a second to show one of this size. */
const MAX_RENDERED_BYTES = 256 * 1024;

function views(site: Site, { size_bytes: size }: ShownPaste): Html {
  const { paste: text } = words;
  if (size > MAX_RENDERED_BYTES)
    return html`<span class="hint">${text.sourceOnly(formatSize(MAX_RENDERED_BYTES))}</span>\n`;
  return html`<div id="views" class="views" role="group" aria-label="${text.views}" data-worker="${site.asset('markdown-worker.js')}" data-image="${text.image}" data-busy="${text.rendering}" data-failed="${text.notRendered}" hidden><button type="button" aria-pressed="true">${text.source}</button><button type="button" aria-pressed="false">${text.rendered}</button></div>\n`;
}

function warningsHtml({ bidi, notUtf8, longLines, cut }: TextWarnings): Html {
  const { paste: text } = words;
  const shown = [
    bidi && text.bidi,
    notUtf8 && text.notUtf8,
    longLines && text.longLines(String(MAX_LINE_CHARACTERS)),
    cut && text.cut(String(MAX_LINES)),
  ];
  return html`${shown.map((warning) => warning !== false && html`<p class="warning" role="note">${warning}</p>\n`)}`;
}

export function deletion(site: Site, paste: ShownPaste): Html | false {
  if (paste.deletion === null) return false;
  const { paste: text } = words;
  return html`<details class="deletion"><summary>${text.deleteTitle}</summary>
<form method="post" action="${site.base}/${paste.short_code}/delete" enctype="multipart/form-data">
<p class="hint">${paste.deletion === 'owner' ? text.deleteOwnHint : text.deleteHint}</p>
${
  paste.deletion === 'token' &&
  html`<label for="delete_token">${text.deleteToken}</label>
<input id="delete_token" name="delete_token" type="password" autocomplete="off" required>
`
}<button class="danger" type="submit">${text.deleteButton}</button>
</form></details>`;
}
