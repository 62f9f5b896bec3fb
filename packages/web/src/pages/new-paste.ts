import { languages } from '../content/languages.ts';
import { formatSize } from '../html/formats.ts';
import { html } from '../html/html.ts';
import { page, type Site } from '../html/layout.ts';
import { words } from '../words.ts';

const DEFAULT_EXPIRY = '2592000';

/**
 * The form at `/`. Without JavaScript the browser sends the form itself: a field named `text`, whose newlines
 * the browser turns into CR LF, or a file named `content`, byte for byte.
 */
export function newPastePage(site: Site, { maxPasteBytes }: { readonly maxPasteBytes: number }): string {
  const { form } = words;
  return page(site, {
    title: form.title,
    scripts: ['new-paste.js'],
    main: html`<h1>${form.title}</h1>
<form id="new-paste" class="new-paste" method="post" action="${site.base}/" enctype="multipart/form-data" data-unreachable="${form.unreachable}" data-unencrypted="${words.encryption.failed}">
<div class="field">
<label for="text">${form.content}</label>
<textarea id="text" name="text" rows="18" spellcheck="false" autocapitalize="off" autocomplete="off" aria-describedby="text-hint" autofocus></textarea>
<p id="text-hint" class="hint">${form.contentHint}</p>
</div>
<div class="options">
<div class="field"><label for="file">${form.file}</label><input id="file" name="content" type="file" aria-describedby="file-hint"><p id="file-hint" class="hint">≤ ${formatSize(maxPasteBytes)}</p></div>
<div class="field"><label for="title">${form.pasteTitle}</label><input id="title" name="title" maxlength="200" autocomplete="off"></div>
<div class="field"><label for="syntax">${form.syntax}</label><select id="syntax" name="syntax"><option value="">${form.detectSyntax}</option>${languages.map(({ id, name }) => html`<option value="${id}">${name}</option>`)}</select></div>
<div class="field"><label for="expires_in">${form.expiry}</label><select id="expires_in" name="expires_in">${form.expiries.map(([value, name]) => html`<option value="${value}"${value === DEFAULT_EXPIRY && html` selected`}>${name}</option>`)}</select></div>
${site.viewer !== null && html`<div class="field"><label for="visibility">${form.visibility}</label><select id="visibility" name="visibility">${form.visibilities.map(([value, name]) => html`<option value="${value}">${name}</option>`)}</select></div>\n`}</div>
<div class="field"><label class="check" for="burn"><input id="burn" name="burn" type="checkbox" value="true" aria-describedby="burn-hint"> ${words.burn.option}</label><p id="burn-hint" class="hint">${words.burn.optionHint}</p></div>
<fieldset id="encryption" class="encryption" hidden>
<legend class="visually-hidden">${words.encryption.option}</legend>
<label class="check" for="encrypt"><input id="encrypt" type="checkbox"> ${words.encryption.option}</label>
<div id="encryption-options" hidden>
<div class="field narrow"><label for="password">${words.encryption.password}</label><input id="password" type="password" autocomplete="new-password" aria-describedby="password-hint"><p id="password-hint" class="hint">${words.encryption.passwordHint}</p></div>
<p class="hint">${words.encrypted.explanation}</p>
</div>
</fieldset>
${site.viewer === null && html`<p class="hint">${form.privacy}</p>`}
<p><button id="create" class="primary" type="submit">${form.submit}</button> <span id="form-status" role="status"></span></p>
<div id="form-error" role="alert"></div>
</form>`,
  });
}
