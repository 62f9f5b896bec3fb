import { html, type Html } from '../html/html.ts';
import { formUser, type Site } from '../html/layout.ts';
import { changeLink } from './newer-version.ts';
import { untilRead, type ShownPaste } from './shown-paste.ts';

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
export function ownerMenu(site: Site, paste: ShownPaste): Html {
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
