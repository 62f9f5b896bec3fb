import { languageOf } from '../content/languages.ts';
import { html } from '../html/html.ts';
import { page, type Site } from '../html/layout.ts';
import { words } from '../words.ts';
import {
  copyButton,
  deletion,
  heading,
  textPage,
  titleOf,
  wrapButton,
  type ShownPaste,
  type TextPage,
} from './paste.ts';

/**
 * The page of a paste that is deleted when it is read. It shows nothing of the text: a form reveals the text.
 * @param readerKey random; a reader who sends the form with this key can send the form again when the answer
 * breaks off
 */
export function burnPage(site: Site, paste: ShownPaste, readerKey: string): string {
  const { burn: text } = words;
  return page(site, {
    title: titleOf(paste),
    scripts: ['timeline.js'], // which shows the times relative to now
    hasStylesInside: true,
    main: html`${heading(site, paste, languageOf(paste))}
<p class="notice attention">${text.explanation} ${text.reload}</p>
<form method="post" action="${site.base}/${paste.short_code}"><input type="hidden" name="key" value="${readerKey}"><p><button class="primary" type="submit">${text.reveal}</button></p></form>
<p class="hint">${text.command} <code>curl -X POST ${paste.url} -H "Idempotency-Key: \${KEY:=$(uuidgen)}"</code></p>
${deletion(site, paste)}`,
  });
}

/** The page with the text, which no other request shows. Nothing on it leads to the text again. */
export function revealedPage(site: Site, paste: ShownPaste, firstText: string): TextPage {
  return textPage(site, { ...paste, isDeleted: true }, firstText, {
    note: html`<p class="notice attention">${words.burn.revealed}</p>\n`,
    above: () => html`<div class="bar"><div class="right">${wrapButton()}${copyButton(null)}</div></div>`,
    below: false,
  });
}
