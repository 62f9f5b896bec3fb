import { languages, type Language, type StoredOption, type StoredOptions } from '@pasteflow/domain';
import { formatSize, formatTime, languageName } from '../html/formats.ts';
import { html, type Html } from '../html/html.ts';
import type { Site } from '../html/layout.ts';
import type { Words } from '../words/translation.ts';
import { ownerMenu } from './deletion.ts';
import { changeLink, editLink, versionNotes } from './newer-version.ts';
import { titleHtml, untilRead, type ShownPaste } from './shown-paste.ts';

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
    paste.files !== null && text.files(paste.files.length),
    formatSize(paste.size_bytes, site.words),
    kind ?? (!paste.encrypted && paste.files === null && languageFact(site, paste, language)),
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
  return html`<div class="heading"><h1>${titleHtml(site.words, paste)}${badges(site.words, paste)}</h1>
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

export function kindName(words: Words, { syntax }: ShownPaste, language: Language | null): string {
  return language === null ? (syntax ?? words.paste.plainText) : languageName(language, words);
}
