import type { Visibility } from '@pasteflow/domain';
import { formatTime } from '../html/formats.ts';
import { html, type Html } from '../html/html.ts';
import { page, type Site } from '../html/layout.ts';
import type { Words } from '../words/translation.ts';

interface ShownCreation {
  readonly url: string;
  readonly title: string | null;
  readonly files: readonly object[] | null;
  /** In ISO 8601; null: never. */
  readonly expires_at: string | null;
  readonly visibility: Visibility;
  readonly burn: boolean;
  readonly encrypted: boolean;
  /** The paste of which this one is the newer version; null: none. */
  readonly supersedes: string | null;
  /** null for a paste that has an owner. */
  readonly deleteToken: string | null;
}

/** The answer to the form. */
export function createdPage(site: Site, created: ShownCreation): string {
  const { url, files, burn, encrypted, visibility, deleteToken, expires_at: expires } = created;
  const { created: text, paste } = site.words;
  const title = created.supersedes === null ? text.title : site.words.edit.saved;
  return page(site, {
    title,
    scripts: ['created.js'],
    main: html`<div class="card created">
<h1>${title}</h1>
<p class="line">${created.title !== null && html`<span><bdi>${created.title}</bdi></span>`}${files !== null && html`<span>${paste.files(files.length)}</span>`}<span>${burn ? text.readOnce : text.readers[visibility]}</span><span>${
      expires === null
        ? paste.neverExpiresLine
        : html`${paste.expiresLine} ${formatTime(expires, site.words)}`
    }</span></p>
<div class="field"><label for="url">${text.link}</label><div class="copyable"><input id="url" value="${url}" dir="ltr"
readonly>${copyButton(site.words, 'url', text.copyLink, 'primary')}<button type="button" id="share" hidden>${paste.share}</button></div>${
      burn && visibility !== 'private' && html`<p class="hint">${site.words.secret.next}</p>`
    }${encrypted && html`<p class="hint">${text.keyHint}</p>`}</div>
<p class="toolbar"><a id="open" class="button" href="${url}">${text.open}</a> <a class="button" href="${site.base}/${burn && '?secret'}">${text.another}</a></p>
<details id="qr" data-label="${paste.qrOf('{url}')}" hidden><summary>${paste.qr}</summary></details>
${deleteToken !== null && deletionToken(site.words, deleteToken)}</div>`,
  });
}

/** The browser keeps the token where it can. */
function deletionToken(words: Words, token: string): Html {
  const { created: text } = words;
  return html`<details id="deletion" open><summary>${text.deleteToken}</summary>
<div class="field"><label for="delete-token">${text.deleteToken}</label><div class="copyable"><input id="delete-token" value="${token}"
dir="ltr" readonly>${copyButton(words, 'delete-token', text.copy)}</div>
<p class="hint">${text.deleteTokenHint}</p></div>
</details>
<p id="kept" class="hint" hidden><span role="status">${text.kept}</span> <button id="forget" type="button"
data-done="${text.forgotten}">${text.forget}</button></p>
`;
}

/** A secret that no page shows again. */
export function shownOnce(
  words: Words,
  shown: {
    readonly title: string;
    readonly label: string;
    readonly secret: string;
    readonly hint: Html | string;
  },
): Html {
  return html`<div class="notice" role="status"><h2>${shown.title}</h2>
<div class="field"><label for="secret">${shown.label}</label><div class="copyable"><input id="secret" value="${shown.secret}"
dir="ltr" readonly autocomplete="off" spellcheck="false"
aria-describedby="secret-hint">${copyButton(words, 'secret', words.created.copy, 'primary')}</div>
<p id="secret-hint" class="hint">${shown.hint}</p></div></div>`;
}

/** Needs JavaScript, and is hidden without it. */
export function copyButton({ created }: Words, id: string, label: string, weight = ''): Html {
  const { copied, notCopied } = created;
  return html`<button type="button" class="${weight}" data-copy="${id}" data-done="${copied}" data-failed="${notCopied}" hidden>${label}</button>`;
}
