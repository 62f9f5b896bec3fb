import { html, type Html } from '../html/html.ts';
import { formUser, type Site } from '../html/layout.ts';
import { mustBurn } from './house-rules.ts';

/** The part of a `ShownPaste` that says whether it has, or can have, a newer version. */
interface VersionedPaste {
  readonly short_code: string;
  readonly status: string;
  readonly isDeleted?: boolean;
  readonly isHeld: boolean;
  readonly encrypted: boolean;
  readonly burn: boolean;
  readonly deletion: 'token' | 'owner' | null;
  readonly newer?: string | undefined;
  readonly movable?: { readonly slug: string; readonly from: string } | null;
}

/** What the page of a paste says of its newer version, or of an older one that its slug names. */
export function versionNotes(site: Site, { short_code: code, newer, movable }: VersionedPaste): Html {
  return html`${newer !== undefined && html`\n<p class="notice">${site.words.history.newer} ${newerLinks(site, code, newer)}</p>`}${
    movable && moveForm(site, code, movable)
  }`;
}

function newerLinks(
  { base, words }: Site,
  code: string,
  newer: string,
  attributes: Html | false = false,
): Html {
  const { history: text } = words;
  return html`<a class="button" href="${base}/${newer}"${attributes}>${text.openNewer}</a> <a class="button" href="${base}/${newer}/diff?from=${code}"${attributes}>${text.newerChanges}</a>`;
}

/** Its owner moves a slug to this version. */
export function moveForm(
  site: Site,
  to: string,
  { slug, from }: { readonly slug: string; readonly from: string },
): Html {
  const { history: text } = site.words;
  return html`\n<form class="notice" method="post" action="${site.base}/my/slugs/${slug}">${formUser(site)}<input type="hidden" name="short_code" value="${to}"><input type="hidden" name="from" value="${from}">${text.older(slug)} <button type="submit">${text.move(slug)}</button></form>`;
}

/** Where a paste can have a newer version. Whoever has the delete token may make one, as the owner may. */
export function editLink(site: Site, paste: VersionedPaste): Html | false {
  const { base, words } = site;
  const isStored = paste.status === 'PROCESSED' && paste.isDeleted !== true;
  if (!isStored || paste.encrypted || paste.burn || paste.isHeld) return false;
  if (mustBurn(site)) return false; // a newer version can't
  const name = paste.deletion === 'owner' ? words.paste.edit : words.paste.editWithToken;
  return html`<a class="button edit" href="${base}/${paste.short_code}/edit" aria-keyshortcuts="e">${name}</a>\n`;
}

/** The form that changes what a paste has beside its text. A script removes the link when the paste was read. */
export function changeLink(
  { base, words }: Site,
  { short_code: code, burn }: VersionedPaste,
  attributes: Html | false = false,
): Html {
  return html`<a${attributes} href="${base}/${code}/change" rel="nofollow"${burn && html` data-until-read`}>${words.change.link}</a>`;
}

/** An older version that is edited, and a newer one of which the writer may not know. */
export interface Conflict {
  readonly older: string;
  readonly newer: string;
}

/** The writer edits an older version, or another writer has saved one meanwhile. The form keeps the text. */
export function conflictNote(site: Site, { older, newer }: Conflict): Html {
  const { edit: text } = site.words;
  return html`<div id="conflict" class="notice attention" role="alert"><p>${text.conflict(newer)} ${text.conflictHint}</p>
<p class="toolbar">${newerLinks(site, older, newer, html` target="_blank"`)}</p></div>\n`;
}

/**
 * What the form of a newer version has in place of the origin of a new paste. The script replaces it when
 * somebody else has saved a version.
 * @param code of the paste that the new version supersedes
 * @param needsToken the paste is anonymous
 */
export function editFields({ base, words }: Site, code: string, needsToken: boolean): Html {
  const { edit: text, paste } = words;
  return html`<div id="edited"><input type="hidden" name="supersedes" value="${code}" autocomplete="off">
<p>${text.of} <a href="${base}/${code}" dir="ltr">${code}</a></p>
${
  needsToken &&
  html`<div class="field"><label for="delete_token">${paste.deleteToken}</label><input id="delete_token" name="delete_token"
type="password" autocomplete="off" required aria-describedby="token-hint" data-path="${base}/${code}/delete"><p id="token-hint"
class="hint">${text.tokenHint}</p></div>
`
}</div>
`;
}
