import { languages, type StoredOptions } from '@pasteflow/domain';
import { choice, countOf, filterForm, pageLinks } from '../html/filter-form.ts';
import { formatNumber, formatSize, formatTime, languageName } from '../html/formats.ts';
import { html, type Html } from '../html/html.ts';
import { formUser, page, type Site } from '../html/layout.ts';
import type { Words } from '../words/translation.ts';
import { badges } from './heading.ts';
import { receiptLine, type Receipt } from './receipt.ts';
import { nameOfFiles } from './shown-paste.ts';

/** A paste in its owner's list. The times are in ISO 8601. */
export interface OwnPaste extends StoredOptions {
  readonly short_code: string;
  readonly status: 'IN_PROGRESS' | 'PROCESSED' | 'FAILED';
  readonly size_bytes: number;
  readonly created_at: string;
  readonly expires_at: string | null;
  /** What a paste without a title begins with; null or missing: not known, or not to be shown. */
  readonly firstWords?: string | null;
  /** null or missing: the paste is still there. */
  readonly receipt?: Receipt | null;
}

export interface MyPastes {
  readonly pastes: readonly OwnPaste[];
  /** What the list is filtered by; null: not at all. */
  readonly title: string | null;
  readonly status: string | null;
  readonly visibility: string | null;
  readonly syntax: string | null;
  /** null: the newest comes first. */
  readonly sort: 'expiry' | null;
  /** The user may have more pastes than were sorted. */
  readonly isCut: boolean;
  readonly isFirst: boolean;
  readonly next: string | null;
  /** How many pastes were just deleted; null: none were to be. */
  readonly deleted: number | null;
  /** null: no limit. */
  readonly usage: Readonly<Record<'pastes' | 'stored_bytes', Figures | null>>;
}

interface Figures {
  readonly used: number;
  readonly allowed: number;
}

const STATES = ['PROCESSED', 'IN_PROGRESS', 'FAILED'] as const;

/** The user's own pastes. The browser module shows the list anew when the filter changes. */
export function myPastesPage(site: Site, list: MyPastes): string {
  const { myPastes: text } = site.words;
  const action = `${site.base}/my/pastes`;
  const states = STATES.map((state) => [state, site.words.paste.uploadStates[state]] as const);
  return page(site, {
    title: text.title,
    scripts: ['my-pastes.js'],
    place: '/my/pastes',
    main: html`<h1>${text.title}</h1>
${list.deleted !== null && html`<p class="notice" role="status">${text.deleted(list.deleted)}</p>`}
${usageLine(site.words, list.usage)}${filterForm(site, action, [
      html`<div class="field"><label for="title">${text.titleFilter}</label><input id="title" name="title" type="search"
aria-keyshortcuts="/" dir="auto" value="${list.title ?? ''}" maxlength="200"></div>`,
      choice(
        { id: 'visibility', label: text.readers, any: text.anyState },
        Object.entries(text.visibilities),
        list.visibility,
      ),
      choice(
        { id: 'syntax', label: site.words.paste.language, any: text.anyState },
        languages.map((each) => [each.id, languageName(each, site.words)] as const),
        list.syntax,
      ),
      choice({ id: 'status', label: text.upload, any: text.anyState }, states, list.status),
      choice(
        { id: 'sort', label: text.order, any: text.newestFirst },
        [['expiry', text.byExpiry]],
        list.sort,
      ),
    ])}
<div id="found">
${list.isCut && html`<p class="hint">${text.cut}</p>\n`}${list.pastes.length === 0 ? nothing(site, list) : pastesForm(site, list.pastes)}
${pageLinks(site, action, { ...filterOf(list), sort: list.sort }, list)}</div>
${countOf(text.title)}`,
  });
}

/** What the user has stored, where there are quotas. */
function usageLine(words: Words, { pastes, stored_bytes: bytes }: MyPastes['usage']): Html | false {
  const { myPastes: text } = words;
  if (pastes === null && bytes === null) return false;
  return html`<p class="line">${
    pastes &&
    html`<span>${text.usedPastes(formatNumber(pastes.used, words), formatNumber(pastes.allowed, words))}</span>`
  }${bytes && html`<span>${text.usedSize(formatSize(bytes.used, words), formatSize(bytes.allowed, words))}</span>`}</p>\n`;
}

function filterOf({ title, status, visibility, syntax }: MyPastes) {
  return { title, status, visibility, syntax };
}

/** What to do where there is nothing to show. */
export function nothing({ base, words }: Site, list: MyPastes): Html {
  const { myPastes: text } = words;
  if (list.next !== null) return html`<p class="card">${text.noneYet}</p>`;
  if (list.isFirst && Object.values(filterOf(list)).every((each) => each === null))
    return html`<div class="card"><p>${text.none}</p><p><a class="button primary" href="${base}/">${words.newPaste}</a></p></div>`;
  return html`<div class="card"><p>${text.noMatch}</p><p><a class="button" href="${base}/my/pastes">${words.job.allPastes}</a></p></div>`;
}

export function pastesForm(site: Site, pastes: readonly OwnPaste[]): Html {
  const { myPastes: text } = site.words;
  return html`<form id="pastes" method="post" action="${site.base}/my/pastes/delete">${formUser(site)}
<ul class="rows">
${pastes.map((each) => row(site, each))}</ul>
<p class="selection"><label class="check" hidden><input type="checkbox"
id="select-all"> ${text.selectAll}</label> <span id="selected" role="status"
data-words="${text.selected}"></span> <button class="danger" id="delete-selected"
type="submit">${text.deleteSelected}</button></p>
</form>`;
}

function row({ base, words }: Site, each: OwnPaste): Html {
  const { myPastes: text, paste, created } = words;
  const { short_code: code, expires_at: expires, status } = each;
  const address = each.slug === null ? code : `~${each.slug}`;
  const { files } = each;
  const named = each.title ?? (files === null ? null : nameOfFiles(words, files));
  const name = named ?? each.firstWords ?? address;
  const { receipt = null } = each;
  return html`<li>${receipt === null && html`<input type="checkbox" name="short_code" value="${code}" aria-label="${text.selectOne(name)}">`}
<div><p><a${named === null && name !== address && html` class="words"`} href="${base}/${address}"><bdi>${name}</bdi></a>${badges(words, each)} ${
    status !== 'PROCESSED' &&
    html`<span class="badge ${status.toLowerCase()}">${paste.uploadStates[status]}</span>`
  }</p>
<p class="line">${name !== address && html`<span><bdi dir="ltr">${address}</bdi></span>`}${files !== null && html`<span>${paste.files(files.length)}</span>`}<span>${formatSize(each.size_bytes, words)}</span><span>${formatTime(each.created_at, words)}</span><span>${
    receipt !== null
      ? receiptLine(words, receipt)
      : expires === null
        ? paste.neverExpiresLine
        : html`${paste.expiresLine} ${formatTime(expires, words)}`
  }</span></p></div>
${
  receipt === null &&
  html`<button type="button" data-copy-link="${base}/${address}" data-done="${created.copied}"
data-failed="${created.notCopied}" aria-label="${text.copyLinkOf(name)}" hidden>${created.copyLink}</button>`
}</li>\n`;
}

/** The question before pastes are deleted, since nothing restores them. */
export function confirmDeletionPage(
  site: Site,
  pastes: readonly Pick<OwnPaste, 'short_code' | 'title' | 'files'>[],
): string {
  const { myPastes: text } = site.words;
  return page(site, {
    title: text.confirm(pastes.length),
    main: html`<div class="card"><h1>${text.confirm(pastes.length)}</h1>
<ul>${pastes.map(
      ({ short_code: code, title, files }) =>
        html`<li><a href="${site.base}/${code}"><bdi>${title ?? code}</bdi></a>${
          title !== null && html` <small>${code}</small>`
        }${files !== null && html` <small>${site.words.paste.files(files.length)}</small>`}</li>\n`,
    )}</ul>
<p>${text.confirmHint}</p>
<form class="toolbar" method="post" action="${site.base}/my/pastes/delete">${formUser(site)}
<input type="hidden" name="confirmed" value="yes">
${pastes.map(
  ({ short_code: code }) => html`<input type="hidden"
name="short_code" value="${code}">\n`,
)}<button class="danger"
type="submit">${site.words.paste.deleteButton}</button> <a
class="button" href="${site.base}/my/pastes">${text.keep(pastes.length)}</a>
</form></div>`,
  });
}
