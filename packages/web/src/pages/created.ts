import { html } from '../html/html.ts';
import { page, type Site } from '../html/layout.ts';
import { words } from '../words.ts';

/** The answer to the form. @param deleteToken null for a paste that has an owner */
export function createdPage(
  site: Site,
  {
    url,
    deleteToken,
    encrypted,
  }: { readonly url: string; readonly deleteToken: string | null; readonly encrypted: boolean },
): string {
  const { created } = words;
  return page(site, {
    title: created.title,
    scripts: ['created.js'],
    main: html`<h1>${created.title}</h1>
<div class="field"><label for="url">${created.link}</label>${copyable('url', url)}${encrypted && html`<p class="hint">${created.keyHint}</p>`}</div>
${
  deleteToken !== null &&
  html`<div class="field"><label for="delete-token">${created.deleteToken}</label>${copyable('delete-token', deleteToken)}<p class="hint">${created.deleteTokenHint}</p></div>`
}
<p><a id="open" class="button primary" href="${url}">${created.open}</a></p>`,
  });
}

/** A text to copy. The button needs JavaScript, and is hidden without it. */
function copyable(id: string, text: string) {
  return html`<div class="copyable"><input id="${id}" value="${text}" readonly><button type="button" data-copy="${id}" data-done="${words.created.copied}" data-failed="${words.created.notCopied}" hidden>${words.created.copy}</button></div>`;
}
